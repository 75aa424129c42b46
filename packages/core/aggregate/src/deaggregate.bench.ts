/**
 * What opening and making aggregates costs, one line a figure.
 *
 *     node --conditions=@holdfast/source packages/core/aggregate/src/deaggregate.bench.ts
 *
 * The baseline is MD5 over the same bytes and nothing else.
 */
import { figuresOf } from "@holdfast/suites/figures"
import { Option } from "effect"
import { createHash } from "node:crypto"
import { Aggregator, deaggregator, type NewUserRecord } from "./index.ts"

const say = figuresOf("aggregate")
const md5 = (bytes: Uint8Array): Uint8Array => createHash("md5").update(bytes).digest()
const none = (bytes: Uint8Array): Uint8Array => bytes.subarray(-16)
const perMessage = 400
const messages = 25

const userRecords = (keys: number): ReadonlyArray<NewUserRecord> =>
  Array.from({ length: perMessage }, (_, at) => ({
    partitionKey: `c2a75787-469b-4310-840d-${String(at % keys).padStart(12, "0")}`,
    data: new Uint8Array(100).fill(at % 251)
  }))

const build = (records: ReadonlyArray<NewUserRecord>): ReadonlyArray<Uint8Array> => {
  const aggregator = new Aggregator({ md5 })
  return Array.from({ length: messages }, () => {
    for (const record of records) aggregator.add(record)
    return Option.getOrThrow(aggregator.finish()).data
  })
}

/** Millions of user records a second: the best of many turns, each too short to be interrupted. */
const rate = (turn: () => void): number => {
  let best = 0
  for (let at = 0; at < 150; at++) {
    const started = performance.now()
    turn()
    best = Math.max(best, (messages * perMessage) / (performance.now() - started) / 1_000)
  }
  return best
}

const opening = (inputs: ReadonlyArray<Uint8Array>, digest: typeof md5): number => {
  const open = deaggregator({ md5: digest })
  return rate(() => {
    for (const input of inputs) {
      const outcome = open(input)
      if (outcome._tag !== "Aggregate" || outcome.records.length !== perMessage) {
        throw new Error("a record was not opened")
      }
    }
  })
}

const few = userRecords(10)
const shared = build(few)
const digestAlone = rate(() => shared.forEach((input) => md5(input.subarray(4, -16))))
const opened = opening(shared, md5)
say({
  what: "deaggregate and MD5, 100 B, 10 keys a message",
  value: opened,
  unit: "million records a second",
  bar: { atLeast: 1.5 }
})
say({ what: "  against MD5 alone over the same bytes", value: opened / digestAlone, unit: "times" })
say({ what: "  MD5 alone", value: digestAlone, unit: "million records a second" })
say({
  what: "deaggregate and MD5, 100 B, a key for each record",
  value: opening(build(userRecords(perMessage)), md5),
  unit: "million records a second"
})

// The digest at the end of each message is put where `none` finds it: parsing alone.
const unchecked = shared.map((input) => {
  const copy = Uint8Array.from(input)
  copy.set(copy.subarray(-32, -16), copy.length - 16)
  return copy
})
say({
  what: "deaggregate without the digest",
  value: opening(unchecked, none),
  unit: "million records a second"
})
say({
  what: "aggregate and MD5, 100 B, 10 keys a message",
  value: rate(() => build(few)),
  unit: "million records a second"
})
