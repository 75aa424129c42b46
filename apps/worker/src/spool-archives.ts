/**
 * Archives of an embedded spool as a RecordSource.
 *
 * Several archives may read one stream, so the spool may forget a record only when every active
 * archive of its stream has acknowledged it. The floors of all archives are kept together, shared
 * by the workers of the process; after a restart nothing is forgotten until each archive has
 * spoken.
 */
import { RecordSource, RecordSourceError, type ShardReader } from "@holdfast/records"
import { Effect } from "effect"
import type { ArchiveShard } from "./archive-shards.ts"
import { filteredReader } from "./filtered-reader.ts"

/** How far each archive has acknowledged its stream, in this process. */
export type AcknowledgedFloors = Map<string, bigint>

/** Makes the floors that the workers of one process share. */
export const makeFloors = (): AcknowledgedFloors => new Map<string, bigint>()

/** What every archive of a stream has acknowledged; none while one of them has not spoken. */
export const commonFloor = (options: {
  readonly floors: AcknowledgedFloors
  readonly stream: string
  readonly shards: ReadonlyArray<ArchiveShard>
}): bigint | undefined => {
  let common: bigint | undefined
  for (const { shard, stream } of options.shards) {
    if (stream !== options.stream) continue
    const floor = options.floors.get(shard)
    if (floor === undefined) return undefined
    if (common === undefined || floor < common) common = floor
  }
  return common
}

/** A source whose shards are archives, over a source whose shards are the spool's streams. */
export const makeSpoolArchives = (options: {
  readonly spool: RecordSource["Service"]
  readonly shards: Effect.Effect<ReadonlyArray<ArchiveShard>, RecordSourceError>
  readonly floors: AcknowledgedFloors
}): RecordSource["Service"] => {
  const { floors, shards, spool } = options
  const acknowledge = (shard: ArchiveShard, reader: ShardReader): ShardReader["acknowledge"] =>
    Effect.fnUntraced(function* (upTo) {
      floors.set(shard.shard, upTo)
      const all = yield* shards
      const common = commonFloor({ floors, stream: shard.stream, shards: all })
      if (common !== undefined) yield* reader.acknowledge(common)
    })
  return RecordSource.of({
    // A stream that nothing was appended to yet has no records; its archive waits for the first.
    shards: Effect.gen(function* () {
      const streams = new Set((yield* spool.shards).map(({ stream }) => stream))
      return (yield* shards).filter(({ stream }) => streams.has(stream))
    }),
    open: Effect.fnUntraced(function* ({ after, shard: name }) {
      const shard = (yield* shards).find((one) => one.shard === name)
      if (shard === undefined) {
        const message = `there is no active archive "${name}"`
        return yield* new RecordSourceError({ code: "not-found", message })
      }
      const reader = yield* spool.open({ shard: shard.stream, after })
      const whole = { next: reader.next, acknowledge: acknowledge(shard, reader) }
      return shard.filterSubject === undefined ? whole : filteredReader(whole, shard.filterSubject)
    })
  })
}
