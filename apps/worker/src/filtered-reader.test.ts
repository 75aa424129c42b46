import { assert, describe, it } from "@effect/vitest"
import type { ShardReader, SourceRecord } from "@holdfast/records"
import { Effect, Option } from "effect"
import fc from "fast-check"
import { filteredReader } from "./filtered-reader.ts"

const recordOf = (position: number, isWanted: boolean): SourceRecord => ({
  position: BigInt(position),
  timestamp: 0n,
  subject: new TextEncoder().encode(isWanted ? "orders.eu" : "other"),
  headers: [],
  data: new Uint8Array(0)
})

/** A source of records, two a batch, that notes what it may forget. */
const sourceOf = (records: ReadonlyArray<SourceRecord>) => {
  let at = 0
  const source = { acknowledged: -1n }
  const reader: ShardReader = {
    next: () =>
      Effect.sync(() => {
        const batch = records.slice(at, at + 2)
        at += batch.length
        return { records: batch, gaps: [], newest: Option.none(), endOfShard: false }
      }),
    acknowledge: (upTo) =>
      Effect.sync(() => {
        source.acknowledged = upTo
      })
  }
  return { source, reader }
}

const bounds = { maxRecords: 10, maxBytes: 100, wait: "1 second" } as const

describe("a reader of some subjects", () => {
  it.effect("gives the wanted records in order, and lets the source forget all others", () =>
    Effect.promise(() =>
      fc.assert(
        fc.asyncProperty(fc.array(fc.boolean(), { maxLength: 30 }), fc.nat(5), (wishes, lag) =>
          Effect.runPromise(
            Effect.gen(function* () {
              const records = wishes.map((isWanted, at) => recordOf(at + 1, isWanted))
              const wanted = records.filter((_, at) => wishes[at])
              const { reader, source } = sourceOf(records)
              const filtered = filteredReader(reader, "orders.*")
              const got: Array<SourceRecord> = []
              const finished = () => got.slice(0, Math.max(0, got.length - lag)).at(-1)
              for (let turn = 0; turn <= records.length; turn++) {
                got.push(...(yield* filtered.next(bounds)).records)
                const last = finished()
                if (last !== undefined) yield* filtered.acknowledge(last.position)
                const open = got.find(({ position }) => position > (last?.position ?? -1n))
                // Nothing that is under way may be forgotten.
                if (open !== undefined)
                  assert.isBelow(Number(source.acknowledged), Number(open.position))
              }
              assert.deepStrictEqual(got, wanted)
              const newest = got.at(-1)
              if (newest !== undefined) yield* filtered.acknowledge(newest.position)
              const end = records.at(-1)?.position ?? -1n
              assert.strictEqual(source.acknowledged, end)
            })
          )
        )
      )
    )
  )
})
