/**
 * The shards of a worker are its cluster's archives: each active archive is one shard, named as the
 * archive is, of the stream (and filter) that the archive names. Adding an archive is enough for it
 * to be picked up; pausing or removing one stops it.
 */
import { ArchiveClient } from "@holdfast/client"
import { RecordSourceError } from "@holdfast/records"
import { Effect, Stream } from "effect"

/** An archive as a shard. */
export interface ArchiveShard {
  readonly shard: string
  readonly stream: string
  readonly filterSubject?: string
  /** Whether the source is told how far it is archived. */
  readonly isAcknowledged?: boolean
}

/** The active archives as shards; asked of the catalogue each time. */
export const archiveShards: Effect.Effect<
  ReadonlyArray<ArchiveShard>,
  RecordSourceError,
  ArchiveClient
> = Effect.gen(function* () {
  const archives = yield* ArchiveClient
  return yield* archives.list().pipe(
    Stream.filter(({ status }) => status === "active"),
    Stream.map(({ origin }): ArchiveShard => ({
      shard: origin.name,
      stream: origin.stream,
      ...(origin.filter === undefined ? {} : { filterSubject: origin.filter }),
      isAcknowledged: origin.acknowledgement === "watermark"
    })),
    Stream.runCollect,
    Effect.mapError(
      ({ message }) =>
        new RecordSourceError({
          code: "unavailable",
          message: `the catalogue did not say which archives there are: ${message}`
        })
    )
  )
})
