/** Insert and next at a million records, beside a lookup in a hash map of the same size. */
import { figuresOf } from "@holdfast/suites/figures"
import { randomBytes } from "node:crypto"
import { after, makeTagIndex, PartitionKey } from "./index.ts"
import type { IndexRecord } from "./index.ts"

const RECORDS = 1_000_000
const PROBES = 200_000
const encoder = new TextEncoder()
const say = figuresOf("tag-index")

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

const sayRate = (what: string, rate: number): void => {
  say({
    what: `${what} at 1,000,000 records`,
    value: rate,
    unit: "a second",
    bar: { atLeast: 500_000 }
  })
  say({ what: `  ${what}, against a hash map's set`, value: rate / baseline, unit: "times" })
}

sayRate(
  "insert",
  perSecond((r) => index.insert(r), more)
)
sayRate(
  "next",
  perSecond((r) => index.next(after(r)), more)
)
