/** Asking several for the same: one after the other, or side by side when one is slow. */
import { type Duration, Effect, Option, Queue, Result, type Scope } from "effect"

/**
 * The first success of attempts that are started in order: the next one when one has failed, or
 * when none has answered for `after`. Those that still run are interrupted then. When all have
 * failed the answer is all their failures, in order of failing.
 */
export const hedged = <A, E>(
  attempts: ReadonlyArray<Effect.Effect<A, E>>,
  after: Duration.Input
): Effect.Effect<A, ReadonlyArray<E>> =>
  Effect.scoped(
    Effect.gen(function* (): Effect.fn.Return<A, ReadonlyArray<E>, Scope.Scope> {
      const outcomes = yield* Queue.unbounded<Result.Result<A, E>>()
      const failures: Array<E> = []
      let started = 0
      const startNext = Effect.suspend(() => {
        const attempt = attempts[started]
        if (attempt === undefined) return Effect.void
        started++
        const reporting = Effect.flatMap(Effect.result(attempt), (outcome) =>
          Queue.offer(outcomes, outcome)
        )
        return Effect.asVoid(Effect.forkScoped(reporting))
      })
      while (failures.length < attempts.length) {
        if (failures.length === started) yield* startNext
        const taken = Queue.take(outcomes)
        const outcome =
          started < attempts.length
            ? yield* Effect.timeoutOption(taken, after)
            : Option.some(yield* taken)
        if (Option.isNone(outcome)) yield* startNext
        else if (Result.isSuccess(outcome.value)) return outcome.value.success
        else failures.push(outcome.value.failure)
      }
      return yield* Effect.fail(failures)
    })
  )
