/**
 * Jobs: steps on one partition that somebody waits for.
 */
import { ServiceError } from "@holdfast/wire"
import { Deferred, Exit, Result } from "effect"
import type { Address } from "./address.ts"
import type { Resident } from "./partition-table.ts"
import { damagedPartition, jobFailed } from "./refusals.ts"
import type { Replica } from "./replica.ts"

/** What a job makes of a partition. */
export interface Step<A> {
  readonly replica: Replica | null
  readonly value: A
  /**
   * Whether the partition is saved before the answer; by default if the job changed it. A change
   * that promises nothing to anybody may wait for a later save.
   */
  readonly isSaved?: boolean
}

/** Sees the partition, null when there is none, and answers what becomes of it. */
export type JobBody<A> = (
  replica: Replica | null,
  resident: Resident
) => Result.Result<Step<A>, ServiceError>

/** What a job has done: the replica after it, and what to do when that is saved or is not. */
export interface JobRun {
  readonly replica: Replica | null
  readonly isSaved: boolean
  readonly settle: (saved: Exit.Exit<void, ServiceError>) => void
}

/** A job that waits. */
export interface Job {
  readonly address: Address
  readonly run: (resident: Resident) => JobRun
  readonly fail: (error: ServiceError) => void
}

/**
 * A job of `body` whose outcome goes to `answer`; `isRepair`: it also runs on a damaged partition.
 */
export const makeJob = <A>(options: {
  readonly address: Address
  readonly body: JobBody<A>
  readonly isRepair: boolean
  readonly answer: Deferred.Deferred<A, ServiceError>
}): Job => {
  const { address, answer, body, isRepair } = options
  const fail = (error: ServiceError): void => {
    Deferred.doneUnsafe(answer, Exit.fail(error))
  }
  const outcomeOf = (resident: Resident): Result.Result<Step<A>, ServiceError> => {
    if (resident.isDamaged && !isRepair) return Result.fail(damagedPartition(address.key))
    return Result.flatMap(
      Result.try({ try: () => body(resident.current, resident), catch: jobFailed }),
      (step) => step
    )
  }
  return {
    address,
    fail,
    run: (resident) => {
      const outcome = outcomeOf(resident)
      if (Result.isFailure(outcome)) {
        const settle = (): void => fail(outcome.failure)
        return { replica: resident.current, isSaved: false, settle }
      }
      const { replica, value, isSaved = replica !== resident.current } = outcome.success
      const settle = (saved: Exit.Exit<void, ServiceError>): void => {
        Deferred.doneUnsafe(
          answer,
          Exit.map(saved, () => value)
        )
      }
      return { replica, isSaved, settle }
    }
  }
}
