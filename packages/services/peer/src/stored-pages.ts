/** Goes over the stored partitions of an application, so many at a time, in the order of keys. */
import type { KeyRange } from "@holdfast/keyspace"
import { MAX_KEY, MIN_KEY } from "@holdfast/keyspace"
import { PartitionStore, type PartitionStoreError, type StoredPartition } from "@holdfast/storage"
import { Effect, Option } from "effect"

const PAGE = 256

/** Which partitions are gone over; all of the application's where no ranges are named. */
export interface StoredPages {
  readonly application: string
  readonly ranges?: ReadonlyArray<KeyRange>
}

/** Visits page after page; what a visit deletes or adds behind it is not met again. */
export const forEachPage = Effect.fnUntraced(function* <E, R>(
  { application, ranges = [[MIN_KEY, MAX_KEY]] }: StoredPages,
  visit: (page: ReadonlyArray<StoredPartition>) => Effect.Effect<void, E, R>
): Effect.fn.Return<void, E | PartitionStoreError, R | PartitionStore> {
  const store = yield* PartitionStore
  let after = Option.none<string>()
  for (;;) {
    const page = yield* store.scan({ application, after, ranges, limit: PAGE })
    const last = page.at(-1)
    if (last === undefined) return
    yield* visit(page)
    if (page.length < PAGE) return
    after = Option.some(last.key)
  }
})
