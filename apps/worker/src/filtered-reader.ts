/**
 * The records of a shard whose subjects match a filter, where the source itself knows no filters.
 *
 * 1. Records come as the source has them, those of other subjects left out without a gap: they are
 *    not missing.
 * 2. What is left out is acknowledged with the last wanted record in front of it, or at once where
 *    nothing wanted is under way; so a source that forgets what is acknowledged keeps none of it.
 */
import { matchesSubject } from "@holdfast/adapter-nats"
import type { RecordBatch, ShardReader } from "@holdfast/records"
import { Effect } from "effect"

const decoder = new TextDecoder()

/** Narrows a reader to the subjects that match a filter. */
export const filteredReader = (reader: ShardReader, filter: string): ShardReader => {
  /** The newest position that came, and the newest that was wanted. */
  let seen = -1n
  let wanted = -1n
  let acknowledged = -1n

  const keep = (batch: RecordBatch): RecordBatch => {
    const records = batch.records.filter(({ subject }) =>
      matchesSubject(filter, decoder.decode(subject))
    )
    seen = batch.records.at(-1)?.position ?? seen
    wanted = records.at(-1)?.position ?? wanted
    return { ...batch, records }
  }

  const acknowledge: ShardReader["acknowledge"] = (upTo) =>
    Effect.suspend(() => {
      acknowledged = upTo > acknowledged ? upTo : acknowledged
      return reader.acknowledge(acknowledged >= wanted && seen > acknowledged ? seen : acknowledged)
    })

  return {
    next: (options) =>
      Effect.tap(Effect.map(reader.next(options), keep), ({ records }) =>
        records.length === 0 && acknowledged >= wanted && seen > acknowledged
          ? acknowledge(seen)
          : Effect.void
      ),
    acknowledge
  }
}
