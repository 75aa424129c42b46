/** Insert and next at a million records, beside a lookup in a hash map of the same size. */
import { randomBytes } from "node:crypto"
import { after, makeTagIndex, PartitionKey } from "./index.ts"
import type { IndexRecord } from "./index.ts"

const RECORDS = 1_000_000
const PROBES = 200_000
const encoder = new TextEncoder()

const randomRecords = (count: number, tags: number): Array<IndexRecord> => {
  const bytes = randomBytes(count * 32)
  return Array.from({ length: count }, (_, index) => ({
    tag: encoder.encode(`stream/orders-${index % tags}`),
    key: PartitionKey.make(bytes.toString("hex", index * 32, index * 32 + 32))
  }))
}

const perSecond = (run: (record: IndexRecord) => void, records: Array<IndexRecord>): number => {
  const start = performance.now()
  for (const record of records) run(record)
  return Math.round((records.length / (performance.now() - start)) * 1000)
}

const initial = randomRecords(RECORDS, 1000)
const index = makeTagIndex(initial)
const map = new Map(initial.map((record) => [record.key, record]))
const more = randomRecords(PROBES, 777)
const baseline = perSecond((record) => map.set(record.key, record), more)

const print = (name: string, figure: number, bar: string): void =>
  console.log(
    `${name}\t${figure}\ta second\tbar ${bar}\t${(figure / baseline).toFixed(2)} of a hash map's set`
  )

print(
  "index insert at 1,000,000 records",
  perSecond((r) => index.insert(r), more),
  "500,000"
)
print(
  "index next at 1,000,000 records",
  perSecond((r) => index.next(after(r)), more),
  "500,000"
)
