/**
 * Dead letters of archives: each goes to the stream that its archive's settings name, wherever
 * streams are. What cannot be put is put again by the worker, and the record stays unfinished.
 */
import { ArchiveClient } from "@holdfast/client"
import { type DeadLetter, DeadLetterError, DeadLetters } from "@holdfast/service-worker"
import { Effect } from "effect"

/** Puts a letter into a stream; it may be put twice, with the same id. */
export type PutLetter = (stream: string, letter: DeadLetter) => Effect.Effect<void, DeadLetterError>

/** Finds the stream of each letter's archive: shards are called as their archives. */
export const makeArchiveDeadLetters = (
  put: PutLetter
): Effect.Effect<DeadLetters["Service"], never, ArchiveClient> =>
  Effect.map(ArchiveClient, (archives) =>
    DeadLetters.of({
      put: Effect.fnUntraced(function* (letter) {
        const { origin, settings } = yield* archives
          .show(letter.shard)
          .pipe(Effect.mapError(({ message }) => new DeadLetterError({ message })))
        if (settings.deadLetter === undefined) {
          const message = `the archive ${letter.shard} names no stream for dead letters`
          return yield* new DeadLetterError({ message })
        }
        // An archive that is removed and added anew has the same positions for other records.
        yield* put(settings.deadLetter, { ...letter, id: `${origin.fileId}/${letter.id}` })
      })
    })
  )
