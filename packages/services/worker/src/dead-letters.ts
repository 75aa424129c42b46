/**
 * Dead letters: where records go that will not succeed, so that the rest can go on.
 *
 * 1. A record counts as finished only after its letter was taken in.
 * 2. A letter may be put twice (the answer was lost, or another worker took over); its id is the
 *    same then, so that whoever keeps it can tell.
 * 3. While the letters' own store is away, the record stays in flight and counts against the
 *    limits.
 */
import type { PartReport } from "@holdfast/disposition"
import type { SourceRecord } from "@holdfast/records"
import { Context, Duration, Effect, Option, Schema } from "effect"
import { subjectOf } from "./held-records.ts"
import type { PendingLetter } from "./pending-letters.ts"
import type { ShardRun } from "./shard-run.ts"

/** A record that did not go through. */
export interface DeadLetter {
  /** The same for every put of the same record. */
  readonly id: string
  readonly shard: string
  /** With a part of an aggregate: the user record. */
  readonly record: SourceRecord
  /** Which part of a record that came in several. */
  readonly part?: PartReport
  /** How often it was tried. */
  readonly attempts: number
  readonly reason: string
}

/** The letter was not taken in; it is put again later. */
export class DeadLetterError extends Schema.TaggedError<DeadLetterError>()("DeadLetterError", {
  message: Schema.String
}) {}

/**
 * Takes dead letters in; optional: without it a policy that ends in dead letters halts the shard.
 */
export class DeadLetters extends Context.Service<
  DeadLetters,
  { readonly put: (letter: DeadLetter) => Effect.Effect<void, DeadLetterError> }
>()("@holdfast/service-worker/DeadLetters") {}

/** Puts what waits, one after the other, each until it is taken in. */
export const deadLetters = Effect.fnUntraced(function* (run: ShardRun) {
  const service = Option.getOrUndefined(yield* Effect.serviceOption(DeadLetters))
  if (service === undefined) return
  run.hasDeadLetters = true
  const { config, epoch } = run.options
  let delayMs = config.retryFirstMs
  for (;;) {
    yield* run.signal.waitUntil(() => !run.letters.isEmpty)
    for (const pending of run.letters.all) {
      const { ordinal, part } = pending
      const letter = letterOf(run, pending)
      if (letter === undefined) {
        run.letters.remove(pending)
        continue
      }
      const answer = yield* service.put(letter).pipe(
        Effect.timeoutOption(Duration.millis(config.callDeadlineMs)),
        Effect.catch((error) => Effect.as(Effect.logWarning(error.message), Option.none<void>()))
      )
      if (Option.isNone(answer)) {
        yield* Effect.sleep(Duration.millis(delayMs))
        delayMs = Math.min(delayMs * 2, config.retryHighestMs)
        continue
      }
      delayMs = config.retryFirstMs
      run.letters.remove(pending)
      const outcome = run.tracker.settle(ordinal, epoch, "dead-lettered", part)
      if (outcome === "Finished") run.forget(ordinal)
      run.laidAside(ordinal, part)
      run.progress()
    }
  }
})

/** The letter that waits; none when its record has finished meanwhile. */
const letterOf = (
  run: ShardRun,
  { attempts, ordinal, part, reason }: PendingLetter
): DeadLetter | undefined => {
  const held = run.held.get(ordinal)
  if (held === undefined) return undefined
  const { shard } = run.options
  const record = subjectOf(held, part)
  const id = `${shard}@${record.position}`
  return part === undefined
    ? { id, shard, record, attempts, reason }
    : { id: `${id}/${part.index}`, shard, record, part, attempts, reason }
}
