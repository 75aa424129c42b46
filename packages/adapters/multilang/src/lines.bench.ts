/**
 * What the lines of a daemon cost, one line a figure.
 *
 *     node --conditions=@holdfast/source packages/adapters/multilang/src/lines.bench.ts
 *
 * The baseline parses the same lines as JSON, decodes the base64 and checks nothing.
 */
import { figuresOf } from "@holdfast/suites/figures"
import { Result } from "effect"
import { LineSplitter } from "./line-splitter.ts"
import { parseLine } from "./messages.ts"

const perBatch = 1_000
const batches = 40
const pieceBytes = 64 * 1024
const say = figuresOf("multilang")
const data = Buffer.alloc(750, 7).toString("base64")

const lines = Buffer.from(
  Array.from(
    { length: batches },
    (_, batch) =>
      `${JSON.stringify({
        action: "processRecords",
        millisBehindLatest: 0,
        records: Array.from({ length: perBatch }, (__, at) => ({
          action: "record",
          data,
          partitionKey: `key-${at % 100}`,
          approximateArrivalTimestamp: 1_700_000_000_123,
          sequenceNumber: String(
            49_590_338_271_490_256n * 10n ** 39n + BigInt(batch * perBatch + at)
          ),
          subSequenceNumber: 0
        }))
      })}\n`
  ).join("")
)

/** Thousands of records a second: the best of some turns. */
const rate = (takeLine: (line: string) => number): number => {
  let best = 0
  for (let turn = 0; turn < 6; turn++) {
    const started = performance.now()
    const splitter = new LineSplitter({ bytesMax: 64 * 1024 * 1024 })
    let records = 0
    for (let from = 0; from < lines.length; from += pieceBytes) {
      const cut = splitter.push(lines.subarray(from, from + pieceBytes))
      if (cut._tag === "Lines") for (const line of cut.lines) records += takeLine(line)
    }
    if (records !== perBatch * batches) throw new Error("a record is missing")
    best = Math.max(best, records / (performance.now() - started))
  }
  return best
}

const bare = rate((line) => {
  const { records }: { records: ReadonlyArray<{ data: string }> } = JSON.parse(line)
  for (const record of records) Buffer.from(record.data, "base64")
  return records.length
})
const checked = rate((line) => {
  const message = Result.getOrThrow(parseLine(line))
  return message._tag === "ProcessRecords" ? message.records.length : 0
})
say({
  what: "lines of 1,000 records of 750 B, checked",
  value: checked,
  unit: "thousand records a second"
})
say({
  what: "  parsed as JSON and base64, nothing checked",
  value: bare,
  unit: "thousand records a second"
})
