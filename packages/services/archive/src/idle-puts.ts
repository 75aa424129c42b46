/**
 * Puts of plain files that nobody goes on with: they are given up, and what they stored is freed.
 *
 *     a put that did not end ─▶ its chunks changed since the last look? ─ yes ─▶ seen anew
 *                                  └─ no, for `idleFor` ─▶ given up, when all before it are idle too
 *
 * 1. A put is given up only after this process saw it unchanged for the whole time, by the
 *    monotonic clock: a restart begins anew, and so does a look that fails before it comes to it.
 * 2. No file is touched. A put that ends all the same is refused, so nothing confirmed is lost.
 *
 * Any number of processes may do it at the same time: giving up twice changes nothing.
 */
import { FileClient, MetadataClient, type UnfinishedFile } from "@holdfast/client"
import { Clock, Duration, Effect, Layer, Schedule, Stream } from "effect"

/** How often puts are looked at, and how long one may stand still. */
export interface IdlePutsOptions {
  /** If nothing is said, 10 minutes, or a quarter of `idleFor` when that is less. */
  readonly every?: Duration.Input
  /** A day if nothing is said. */
  readonly idleFor?: Duration.Input
}

/** How far a put was when it was last seen to change. */
interface Watched {
  readonly progress: string
  readonly since: number
}

const everyMsMost = 10 * 60_000
/** Names looked at in one turn; those behind them have theirs when some of these are given up. */
const namesMax = 10_000

/** Watches puts; each call of what it gives is one look at all of them, at a monotonic moment. */
export const makeIdlePuts = Effect.fnUntraced(function* (options: {
  readonly idleForMs: number
}): Effect.fn.Return<(nowMs: number) => Effect.Effect<void>, never, FileClient | MetadataClient> {
  const files = yield* FileClient
  const metadata = yield* MetadataClient
  let watched: ReadonlyMap<number, Watched> = new Map()

  /** A put that lives commits chunks, each at a version that was never used before. */
  const progressOf = (fileId: number) =>
    metadata.listChunks(fileId).pipe(
      Stream.runFold(
        () => ({ chunks: 0, newest: 0 }),
        ({ chunks, newest }, { chunk }) => ({
          chunks: chunks + 1,
          newest: Math.max(newest, chunk.version)
        })
      ),
      Effect.map(({ chunks, newest }) => `${chunks} ${newest}`)
    )

  const look = Effect.fnUntraced(function* (
    { fileIds, name, unfinished }: UnfinishedFile,
    nowMs: number,
    seen: Map<number, Watched>
  ) {
    let idle: number | undefined
    let isIdleSoFar = true
    for (const fileId of unfinished.toReversed()) {
      const progress = yield* progressOf(fileId)
      const before = watched.get(fileId)
      const since = before?.progress === progress ? before.since : nowMs
      seen.set(fileId, { progress, since })
      isIdleSoFar &&= nowMs - since >= options.idleForMs
      if (isIdleSoFar) idle = fileId
    }
    if (idle === undefined && fileIds.length === unfinished.length) return
    yield* files.giveUp(name, idle)
    if (idle !== undefined) yield* Effect.logInfo(`puts of "${name}" stood still and are given up`)
  })

  return Effect.fnUntraced(function* (nowMs: number) {
    const seen = new Map<number, Watched>()
    yield* files.listUnfinished().pipe(
      Stream.take(namesMax),
      Stream.mapEffect((file) =>
        look(file, nowMs, seen).pipe(
          Effect.catch((error) => Effect.logWarning(`puts of "${file.name}": ${error.message}`))
        )
      ),
      Stream.runDrain,
      Effect.catch((error) => Effect.logWarning(`puts that did not end: ${error.message}`))
    )
    watched = seen
  })
})

/** Does it at intervals until the scope closes. */
export const idlePutsLayer = (
  options: IdlePutsOptions = {}
): Layer.Layer<never, never, FileClient | MetadataClient> => {
  const idleForMs = Duration.toMillis(Duration.fromInputUnsafe(options.idleFor ?? "1 day"))
  const everyMs = Math.min(everyMsMost, Math.ceil(idleForMs / 4))
  const every = Duration.fromInputUnsafe(options.every ?? everyMs)
  return Layer.effectDiscard(
    Effect.gen(function* () {
      const look = yield* makeIdlePuts({ idleForMs })
      const lookNow = Effect.flatMap(Clock.monotonicTimeNanos, (nanos) =>
        look(Number(nanos / 1_000_000n))
      )
      yield* Effect.forkScoped(Effect.repeat(lookNow, Schedule.spaced(every)))
    })
  )
}
