/**
 * The loop around the partitions.
 *
 *     jobs ──▶ take what has arrived ──▶ step each partition ──▶ one commit ──▶ answer, propagate
 *
 * 1. Jobs of one partition run in order; those of different partitions share a commit.
 * 2. A job is answered after the commit that makes its step durable.
 * 3. A job that is refused, or throws, fails alone and leaves the partition as it was.
 * 4. A failed commit changes nothing, fails its jobs, and the loop goes on.
 */
import { PartitionStore } from "@holdfast/storage"
import type { ServiceError } from "@holdfast/wire"
import { Cause, Clock, Deferred, Effect, Exit, Metric, Option, Result } from "effect"
import type { Address } from "./address.ts"
import { addressText } from "./address.ts"
import type { Job, JobBody } from "./job.ts"
import { makeJob } from "./job.ts"
import { makeJobQueue } from "./job-queue.ts"
import { commitsTotal, jobsTotal } from "./metrics.ts"
import type { Resident } from "./partition-table.ts"
import { PartitionTable, wakeWaiters } from "./partition-table.ts"
import { jobFailed, overloaded, storageRefusal } from "./refusals.ts"
import type { HostedApplication, Replica } from "./replica.ts"
import type { PeerLimits } from "./settings.ts"

/** Told of each partition whose saved state changed, with what was saved before. */
export type SavedListener = (resident: Resident, before: Replica | null) => void

/** The engine of a peer. */
export interface Engine {
  /** Runs a job and answers when what it did is durable. */
  readonly submit: <A>(address: Address, body: JobBody<A>) => Effect.Effect<A, ServiceError>
  /** Puts a job in at once; the effect only waits for its answer. For many jobs in one commit. */
  readonly enqueue: <A>(address: Address, body: JobBody<A>) => Effect.Effect<A, ServiceError>
  /** The same, also on a damaged partition, which it sees as none. */
  readonly repair: <A>(address: Address, body: JobBody<A>) => Effect.Effect<A, ServiceError>
  readonly table: PartitionTable
  /** How many jobs wait or run. */
  readonly backlog: () => number
  /** Runs the loop until it is interrupted. */
  readonly loop: Effect.Effect<never>
  /** Saves what was left for later, at least so many milliseconds ago. */
  readonly flush: (leftMillis: number) => Effect.Effect<void>
}

interface EngineOptions {
  readonly limits: PeerLimits
  readonly applications: ReadonlyMap<string, HostedApplication>
  readonly onSaved: SavedListener
  /** Partitions that are saved after the others of a batch, where each is saved alone. */
  readonly isSavedLast: (address: Address) => boolean
}

interface Stepped {
  readonly resident: Resident
  readonly settles: ReadonlyArray<(saved: Exit.Exit<void, ServiceError>) => void>
  readonly mustSave: boolean
}

const stepResident = (resident: Resident, jobs: ReadonlyArray<Job>, now: number): Stepped => {
  const settles: Array<Stepped["settles"][number]> = []
  let mustSave = false
  resident.usedAt = now
  for (const job of jobs) {
    const { isSaved, replica, settle } = job.run(resident)
    settles.push(settle)
    mustSave ||= isSaved
    if (replica === resident.current) continue
    if (resident.current === resident.saved) resident.unsavedSince = now
    resident.current = replica
  }
  return { resident, settles, mustSave }
}

const groupByAddress = (jobs: ReadonlyArray<Job>): Iterable<ReadonlyArray<Job>> =>
  Map.groupBy(jobs, ({ address }) => addressText(address)).values()

/** Reads partitions of the store into the table. */
const makeLoader = Effect.fnUntraced(function* (
  options: EngineOptions,
  table: PartitionTable,
  now: () => number
) {
  const store = yield* PartitionStore
  return Effect.fnUntraced(function* (address: Address) {
    const known = table.find(address)
    if (known !== undefined) return known
    const stored = Option.getOrNull(yield* store.load(address))
    if (stored === null) return table.admit(address, { replica: null, isDamaged: false }, now())
    const application = options.applications.get(address.application)
    const decoded = stored._tag === "Intact" ? application?.decode(stored.state) : undefined
    if (decoded !== undefined && Result.isSuccess(decoded)) {
      return table.admit(address, { replica: decoded.success, isDamaged: false }, now())
    }
    yield* Effect.logWarning("a stored partition is damaged; it is fetched again", address)
    return table.admit(address, { replica: null, isDamaged: true }, now())
  })
})

/** Saves partitions: together, or, where that fails, each alone, so that one fails alone. */
const makeSaver = Effect.fnUntraced(function* ({ isSavedLast, onSaved }: EngineOptions) {
  const store = yield* PartitionStore
  const commit = (residents: ReadonlyArray<Resident>) =>
    Effect.suspend(() =>
      store.commit({
        facts: [],
        partitions: residents.map(({ address, current }) => ({
          ...address,
          state: Option.map(Option.fromNullOr(current), (replica) => replica.bytes()),
          tags: current === null ? [] : current.tags()
        }))
      })
    ).pipe(
      Effect.mapError(storageRefusal),
      Effect.catchDefect((defect) => Effect.fail(jobFailed(defect)))
    )
  return Effect.fnUntraced(function* (residents: ReadonlyArray<Resident>) {
    const failures = new Map<Resident, ServiceError>()
    if (residents.length === 0) return failures
    const together = yield* Effect.result(commit(residents))
    const ordered = residents.toSorted(
      (left, right) => Number(isSavedLast(left.address)) - Number(isSavedLast(right.address))
    )
    for (const resident of ordered) {
      const isAlone = Result.isSuccess(together) || residents.length === 1
      const result = isAlone ? together : yield* Effect.result(commit([resident]))
      if (Result.isFailure(result)) {
        resident.current = resident.saved
        failures.set(resident, result.failure)
      } else {
        const before = resident.saved
        resident.saved = resident.current
        resident.isDamaged &&= resident.saved === null
        onSaved(resident, before)
      }
    }
    return failures
  })
})

const settleAll = (
  stepped: ReadonlyArray<Stepped>,
  failures: ReadonlyMap<Resident, ServiceError>
): void => {
  for (const { resident, settles } of stepped) {
    const failure = failures.get(resident)
    const saved = failure === undefined ? Exit.void : Exit.fail(failure)
    for (const settle of settles) settle(saved)
    wakeWaiters(resident)
  }
}

/** Makes an engine; its loop is to be forked. */
export const makeEngine = Effect.fnUntraced(function* (
  options: EngineOptions
): Effect.fn.Return<Engine, never, PartitionStore> {
  const { batchJobsMax, jobsMax } = options.limits
  const clock = yield* Clock.Clock
  const now = (): number => Number(clock.monotonicTimeNanosUnsafe() / 1_000_000n)
  const table = new PartitionTable()
  const queue = yield* makeJobQueue(jobsMax)
  const load = yield* makeLoader(options, table, now)
  const saveAll = yield* makeSaver(options)
  let running = 0

  const stepGroup = Effect.fnUntraced(function* (jobs: ReadonlyArray<Job>) {
    const [first] = jobs
    if (first === undefined) return []
    const resident = yield* Effect.result(load(first.address))
    if (Result.isSuccess(resident)) return [stepResident(resident.success, jobs, now())]
    for (const job of jobs) job.fail(storageRefusal(resident.failure))
    return []
  })

  const runBatch = Effect.fnUntraced(function* (jobs: ReadonlyArray<Job>) {
    running = jobs.length
    const stepped: Array<Stepped> = []
    for (const group of groupByAddress(jobs)) stepped.push(...(yield* stepGroup(group)))
    const isChanged = ({ mustSave, resident }: Stepped): boolean =>
      mustSave && resident.current !== resident.saved
    const changed = stepped.filter(isChanged)
    // What promises nothing is answered before the commit, which may take its time.
    settleAll(
      stepped.filter((each) => !isChanged(each)),
      new Map()
    )
    for (const { resident } of changed) wakeWaiters(resident)
    yield* Metric.update(jobsTotal, jobs.length)
    if (changed.length > 0) {
      yield* Metric.update(commitsTotal, 1)
      yield* Effect.yieldNow
      const failures = yield* saveAll(changed.map(({ resident }) => resident))
      settleAll(changed, failures)
    }
    running = 0
  })

  const enqueue = <A>(address: Address, body: JobBody<A>, isRepair: boolean) => {
    const answer = Deferred.makeUnsafe<A, ServiceError>()
    const job = makeJob({ address, answer, body, isRepair })
    return queue.offer(job)
      ? Deferred.await(answer)
      : Effect.fail(overloaded(`${jobsMax} jobs are waiting`))
  }

  const runOne = Effect.flatMap(queue.take(batchJobsMax), (jobs) =>
    Effect.catchCause(runBatch(jobs), (cause) => {
      for (const job of jobs) job.fail(jobFailed(Cause.squash(cause)))
      return Cause.hasInterrupts(cause)
        ? Effect.failCause(cause)
        : Effect.logError("a batch of jobs died", cause)
    })
  )

  const save: JobBody<void> = (replica) =>
    Result.succeed({ replica, value: undefined, isSaved: true })
  const flush = (leftMillis: number) =>
    Effect.suspend(() => {
      const unsaved = table.unsaved(now() - leftMillis)
      const saves = unsaved.map(({ address }) => enqueue(address, save, false))
      return Effect.ignore(Effect.forEach(saves, (each) => each, { discard: true }))
    })

  return {
    submit: (address, body) => Effect.suspend(() => enqueue(address, body, false)),
    enqueue: (address, body) => enqueue(address, body, false),
    repair: (address, body) => Effect.suspend(() => enqueue(address, body, true)),
    table,
    backlog: () => running + queue.size(),
    loop: Effect.forever(runOne),
    flush
  }
})
