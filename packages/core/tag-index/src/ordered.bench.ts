/** Insert and next at a million records, against a sorted array of the engine as the baseline. */
import { randomBytes } from "node:crypto"
import { after, makeTagIndex, PartitionKey } from "./index.ts"
import type { IndexRecord } from "./index.ts"

const encoder = new TextEncoder()

const randomRecords = (count: number, tags: number): Array<IndexRecord> => {
  const bytes = randomBytes(count * 32)
  return Array.from({ length: count }, (_, index) => ({
    tag: encoder.encode(`stream/orders-${index % tags}`),
    key: PartitionKey.make(bytes.toString("hex", index * 32, index * 32 + 32))
  }))
}

const perSecond = (count: number, run: () => void): number => {
  globalThis.gc?.()
  const start = process.threadCpuUsage().user
  run()
  return Math.round((count / (process.threadCpuUsage().user - start)) * 1e6)
}

const print = (name: string, figure: number, bar: number | undefined): void =>
  console.log(
    `${name}  ${figure}  a second  bar ${bar ?? "none"}  ratio ${bar ? (figure / bar).toFixed(2) : "-"}`
  )

const index = makeTagIndex(randomRecords(1_000_000, 1000))
const more = randomRecords(200_000, 777)
print(
  "insert at 1,000,000 records",
  perSecond(more.length, () => more.forEach((r) => index.insert(r))),
  500_000
)
print(
  "next at 1,000,000 records",
  perSecond(more.length, () => more.forEach((r) => index.next(after(r)))),
  500_000
)
