/**
 * Restoring a stream: made again as it was recorded, then filled from the archive.
 *
 *     plan ─▶ make the stream ─▶ pause its archive ─▶ replay ─▶ positions as archived? ─▶ resume
 *
 * 1. A stream that exists is not touched, but for one that this restoring itself had begun, or that
 *    was named as another target.
 * 2. Where the archive has every position from its first to its last, the stream gets the same
 *    ones, and the archive goes on with it. Where it has not, or somebody published meanwhile, the
 *    positions mean other records than the archive's: it stays paused, and that is said.
 */
import {
  beginStreamAt,
  lastOfStream,
  type ManagedConnection,
  restoreStream,
  type StreamDescription
} from "@holdfast/adapter-nats"
import {
  type ArchiveEntry,
  planRestore,
  readReplayId,
  type RestorePlan,
  replayOf
} from "@holdfast/catalogue"
import { ArchiveClient, type ArchiveTotals, cataloguePlatform } from "@holdfast/client"
import { type CommandFailure, failure } from "@holdfast/process"
import { Clock, Effect, Option, Result } from "effect"

/** What is restored, and into which stream. */
export interface Restoring {
  readonly archive: ArchiveEntry
  readonly totals: ArchiveTotals
  readonly stream: string
  /** The stream as it is now, if there is one of the name. */
  readonly existing: StreamDescription | undefined
  readonly connection: ManagedConnection
}

/** How the stream is to be made. */
export const planOf = Effect.fnUntraced(function* (
  { archive, stream, totals }: Restoring,
  wishes: { readonly lifts: boolean; readonly subjects: ReadonlyArray<string> | undefined }
): Effect.fn.Return<RestorePlan, CommandFailure> {
  const { name, streamConfiguration } = archive.origin
  if (streamConfiguration === undefined) {
    return yield* failure(
      `the configuration of the stream of ${name} was never recorded; make a stream of your own and ` +
        `use \`holdfast replay ${name} --into STREAM\``
    )
  }
  const now = yield* Clock.currentTimeNanos
  const { rawBytes, records, timeMin = now } = totals
  const planned = planRestore({
    recorded: streamConfiguration,
    stream,
    ...wishes,
    holding: { records, bytes: rawBytes, oldestAgeNanos: now - timeMin }
  })
  return Result.isFailure(planned) ? yield* failure(planned.failure.message) : planned.success
})

/**
 * The one position range that the archive has without a gap; none where it has several, and none
 * where one position may stand for several records, or for none.
 */
export const positionsOf = ({
  archive,
  totals
}: Pick<Restoring, "archive" | "totals">):
  | { readonly first: bigint; readonly last: bigint }
  | undefined => {
  const [only, ...others] = totals.shards
  const { aggregation = "none", filter } = archive.origin
  const isEachPosition = filter === undefined && aggregation === "none"
  if (only === undefined || others.length > 0 || !isEachPosition) return undefined
  const { first, last, records } = only
  return last - first + 1n === BigInt(records) ? { first, last } : undefined
}

/** Whether an id is one of the replay that a restoring is. */
const isOwnId = (archive: ArchiveEntry, id: string | undefined): boolean =>
  id !== undefined &&
  readReplayId(replayOf(archive.origin, {}, cataloguePlatform), id) !== undefined

/** Refuses a stream that exists and that this restoring had not begun. */
export const refuseOthers = Effect.fnUntraced(function* (restoring: Restoring) {
  const { archive, connection, existing, stream } = restoring
  if (existing === undefined) return
  const newest = yield* lastOfStream(connection, { stream })
  const hasBegun = Option.isSome(newest)
    ? isOwnId(archive, newest.value.messageId)
    : existing.last === 0n || existing.last + 1n === positionsOf(restoring)?.first
  if (hasBegun) return
  return yield* failure(
    `the stream ${stream} exists and is not of this restore; name another one with --into, or delete ` +
      "it first"
  )
})

/** Makes the stream, with the archive's own positions where it has them all. */
export const makeStream = Effect.fnUntraced(function* (restoring: Restoring, plan: RestorePlan) {
  const { connection, stream } = restoring
  const positions = positionsOf(restoring)
  yield* restoreStream(connection, { configuration: plan.configuration, stream })
  if (positions !== undefined && positions.first > 1n) {
    yield* beginStreamAt(connection, { stream, first: positions.first })
  }
})

/** Whether the stream has the archive's own positions: its newest record is at its own place. */
export const hasOwnPositions = Effect.fnUntraced(function* (restoring: Restoring) {
  const { archive, connection, stream } = restoring
  const positions = positionsOf(restoring)
  if (positions === undefined) return false
  const newest = yield* lastOfStream(connection, { stream })
  return (
    Option.isSome(newest) &&
    newest.value.position === positions.last &&
    isOwnId(archive, newest.value.messageId)
  )
})

/** Pauses an archive that reads the stream which is restored; answers whether it ran. */
export const pauseReader = Effect.fnUntraced(function* ({ archive, stream }: Restoring) {
  if (archive.status !== "active" || archive.origin.stream !== stream) return false
  const archives = yield* ArchiveClient
  yield* archives.pause(archive.origin.name)
  return true
})
