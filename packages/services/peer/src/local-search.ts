/**
 * A peer's own part of a search.
 *
 * 1. It answers for the keys that it holds completely, and names those that it was asked for and
 *    does not answer for.
 * 2. With states, a record is left out if the partition has lost its tag meanwhile.
 */
import type { KeyRange } from "@holdfast/keyspace"
import { KeySet, PartitionKey } from "@holdfast/keyspace"
import { PartitionStore, type TagRecord } from "@holdfast/storage"
import type { PeerOperations, ServiceError } from "@holdfast/wire"
import { Effect, Option, Result } from "effect"
import type { Completeness } from "./completeness.ts"
import type { Engine } from "./engine.ts"
import { storageRefusal } from "./refusals.ts"

/** A question to one peer. */
export interface LocalQuestion {
  readonly application: string
  readonly from: Uint8Array
  readonly upTo: Uint8Array
  readonly after?: PeerOperations.IndexCursor
  readonly ranges: ReadonlyArray<readonly [string, string]>
  readonly limit: number
  readonly withState: boolean
}

/** A part of an answer. */
export interface LocalAnswer {
  readonly records: ReadonlyArray<PeerOperations.FoundRecord>
  readonly more: boolean
  readonly notServed: ReadonlyArray<readonly [string, string]>
}

const STATE_BYTES_MAX = 524_288
const ROUGH_RECORD_BYTES = 200

/** Ranges of the wire as a set of keys. */
export const keySetOf = (ranges: ReadonlyArray<readonly [string, string]>): KeySet =>
  KeySet.fromRanges(
    ranges.map(([from, to]): KeyRange => [PartitionKey.make(from), PartitionKey.make(to)])
  )

/** Before every record of the tag `from`; none when that is the start of the index. */
const startOf = ({ after, from }: LocalQuestion): Option.Option<TagRecord> => {
  if (after !== undefined) return Option.some(after)
  return from.length === 0 ? Option.none() : Option.some({ tag: from, key: "" })
}

const sameBytes = (left: Uint8Array, right: Uint8Array): boolean =>
  left.length === right.length && left.every((byte, index) => byte === right[index])

/** Adds states to records, as many as fit into an answer. */
const withStates = Effect.fnUntraced(function* (
  engine: Engine,
  application: string,
  records: ReadonlyArray<TagRecord>
) {
  const found: Array<PeerOperations.FoundRecord> = []
  let room = STATE_BYTES_MAX
  let seen = 0
  for (const { key, tag } of records) {
    if (room <= 0) break
    seen += 1
    const address = { application, key: PartitionKey.make(key) }
    // What cannot be looked at now must not seem to be gone: then the whole answer fails.
    const replica = yield* engine.submit(address, (local) =>
      Result.succeed({ replica: local, value: local })
    )
    if (replica === null || !replica.tags().some((each) => sameBytes(each, tag))) continue
    found.push({ tag, key, state: replica.projected() })
    room -= replica.bytes().length + ROUGH_RECORD_BYTES
  }
  return { found, seen }
})

/** Makes the function that answers `search-local`. */
export const makeLocalSearch = Effect.fnUntraced(function* (
  engine: Engine,
  completeness: Completeness
) {
  const store = yield* PartitionStore
  const pageOf = Effect.fnUntraced(function* (
    question: LocalQuestion,
    served: KeySet
  ): Effect.fn.Return<Omit<LocalAnswer, "notServed">, ServiceError> {
    const { application, limit, upTo, withState } = question
    let start = startOf(question)
    for (;;) {
      const page = yield* store
        .page({
          application,
          after: start,
          upTo: Option.some(upTo),
          ranges: served,
          limit: limit + 1
        })
        .pipe(Effect.mapError(storageRefusal))
      const records = page.slice(0, limit)
      if (!withState) return { records, more: page.length > limit }
      const { found, seen } = yield* withStates(engine, application, records)
      const more = page.length > limit || seen < records.length
      if (found.length > 0 || !more) return { records: found, more }
      start = Option.fromUndefinedOr(records[seen - 1])
    }
  })
  return Effect.fnUntraced(function* (
    question: LocalQuestion
  ): Effect.fn.Return<LocalAnswer, ServiceError> {
    const asked = keySetOf(question.ranges)
    const served = KeySet.intersection(asked, completeness.keys())
    const notServed = KeySet.difference(asked, served)
    if (KeySet.isEmpty(served)) return { records: [], more: false, notServed }
    return { ...(yield* pageOf(question, served)), notServed }
  })
})
