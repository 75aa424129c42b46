/**
 * Jobs that wait, in the order they came. The one who takes gets all that have come together.
 */
import { Effect, Latch } from "effect"
import type { Job } from "./job.ts"

/** A bounded queue of jobs with one taker. */
export interface JobQueue {
  /** Puts a job in; false when there is no room. */
  readonly offer: (job: Job) => boolean
  /** Waits for a job, and takes at most `max` once what is under way had its turn to add more. */
  readonly take: (max: number) => Effect.Effect<ReadonlyArray<Job>>
  readonly size: () => number
}

/**
 * Turns of the scheduler between the first job and its batch: a message that has come needs one to
 * be handed to its handler, and one to be decoded there.
 */
const GATHER_TURNS = 2

/** An empty queue. */
export const makeJobQueue = Effect.fnUntraced(function* (max: number) {
  let waiting: Array<Job> = []
  const latch = yield* Latch.make(false)
  const takeNow = (count: number): ReadonlyArray<Job> => {
    const taken = waiting
    waiting = taken.length > count ? taken.splice(count) : []
    if (waiting.length === 0) latch.closeUnsafe()
    return taken
  }
  const queue: JobQueue = {
    offer: (job) => {
      if (waiting.length >= max) return false
      waiting.push(job)
      latch.openUnsafe()
      return true
    },
    take: Effect.fnUntraced(function* (count) {
      yield* latch.await
      for (let turn = 0; turn < GATHER_TURNS; turn += 1) yield* Effect.yieldNow
      return takeNow(count)
    }),
    size: () => waiting.length
  }
  return queue
})
