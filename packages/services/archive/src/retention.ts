/**
 * Retention: what an archive keeps no longer is ended in the catalogue and its chunks are freed.
 *
 * Any number of processes may do it at the same time: ending a segment twice changes nothing. An
 * archive that fails is tried again the next time; the others are not held up by it.
 */
import { ArchiveClient } from "@holdfast/client"
import { Duration, Effect, Layer, Schedule, Stream } from "effect"

/** How often archives are looked at. */
export interface RetentionOptions {
  readonly every?: Duration.Input
}

/** Ends what is too old in each archive, and everything of those that were removed. */
export const applyRetentionToAll: Effect.Effect<number, never, ArchiveClient> = Effect.gen(
  function* () {
    const archives = yield* ArchiveClient
    const one = (name: string) =>
      archives
        .applyRetention(name)
        .pipe(
          Effect.catch((error) =>
            Effect.as(Effect.logWarning(`retention of "${name}": ${error.message}`), 0)
          )
        )
    return yield* archives.list({ removed: true }).pipe(
      Stream.mapEffect(({ origin }) => one(origin.name)),
      Stream.runFold(
        () => 0,
        (sum, ended) => sum + ended
      ),
      Effect.catch((error) => Effect.as(Effect.logWarning(`retention: ${error.message}`), 0))
    )
  }
)

/** Does it at intervals until the scope closes. */
export const retentionLayer = (
  options: RetentionOptions = {}
): Layer.Layer<never, never, ArchiveClient> =>
  Layer.effectDiscard(
    applyRetentionToAll.pipe(
      Effect.repeat(Schedule.spaced(Duration.fromInputUnsafe(options.every ?? "1 minute"))),
      Effect.forkScoped
    )
  )
