/**
 * Group commit: what fibers want written while one turn of the event loop runs becomes one durable
 * transaction.
 *
 *     fiber ─ job ─┐
 *     fiber ─ job ─┼─▶ queue ─▶ one transaction, one sync ─▶ every fiber is answered
 *     fiber ─ job ─┘
 *
 * 1. A job is answered after the sync of its transaction, or with a refusal and nothing written.
 * 2. Jobs run in the order in which they came; each sees what the earlier ones wrote.
 * 3. A job that fails fails alone: the others of its transaction are run again without it.
 * 4. A job that was handed in is not taken back: whoever waits for it cannot be interrupted.
 * 5. Before a job writes, there is room for it above the reserve; only jobs that free room go
 *    below.
 *
 * The transaction is synchronous on purpose. LMDB's asynchronous commits report a full disk through
 * promises that nobody can catch, and its overlapping sync reports a failed sync to no one.
 */
import { Effect } from "effect"
import type { RootDatabase } from "lmdb"
import { StoreRefused } from "./store-refused.ts"
import { refusalOf } from "./store-refused.ts"

/** Bytes after which a transaction takes no further job. */
const TRANSACTION_BYTES = 16_777_216

/** With less than this beside what a job needs, the disk counts as full. */
const CLOSE_TO_FULL_BYTES = 1_048_576

/** Something to write. */
export interface WriteJob<A> {
  /** Writes with the synchronous functions of the tables; what it throws undoes all of it. */
  readonly run: () => A
  /** About how many bytes it writes. */
  readonly bytes: number
  /** It makes room, so it may use the reserve. */
  readonly freesRoom?: boolean
}

interface QueuedJob {
  readonly run: () => void
  readonly bytes: number
  readonly freesRoom: boolean
  readonly refuse: (refusal: StoreRefused) => void
  readonly die: (defect: unknown) => void
  readonly answer: () => void
}

/** Commits jobs; see the invariants above. */
export interface GroupCommit {
  readonly commit: <A>(job: WriteJob<A>) => Effect.Effect<A, StoreRefused>
  /** Commits what waits and refuses what comes later. */
  readonly close: Effect.Effect<void>
}

/** What the writer is made of. */
export interface GroupCommitOptions {
  readonly root: RootDatabase<Buffer, Buffer>
  /** Bytes that the disk has free. */
  readonly freeBytes: () => number
  /** Bytes of it that only jobs which free room may use. */
  readonly reserveBytes: number
  readonly doing: string
}

const commitTogether = (options: GroupCommitOptions, jobs: ReadonlyArray<QueuedJob>): void => {
  try {
    options.root.transactionSync(() => {
      for (const job of jobs) job.run()
    })
  } catch (cause) {
    const [first, ...others] = jobs
    if (first === undefined) return
    if (others.length > 0) {
      for (const job of jobs) commitTogether(options, [job])
      return
    }
    const isStorage = cause instanceof StoreRefused || (cause instanceof Error && "code" in cause)
    if (!isStorage) return first.die(cause)
    const refusal = refusalOf(cause, options.doing)
    // A full disk cuts a write short, which LMDB reports as an I/O error.
    const isReallyFull =
      refusal.code === "unavailable" && options.freeBytes() < 2 * first.bytes + CLOSE_TO_FULL_BYTES
    return first.refuse(
      isReallyFull ? new StoreRefused({ code: "full", message: refusal.message }) : refusal
    )
  }
  for (const job of jobs) job.answer()
}

const refuseWithoutRoom = (
  options: GroupCommitOptions,
  jobs: ReadonlyArray<QueuedJob>
): ReadonlyArray<QueuedJob> => {
  let room = options.freeBytes() - options.reserveBytes
  return jobs.filter((job) => {
    if (job.freesRoom) return true
    if (job.bytes <= room) {
      room -= job.bytes
      return true
    }
    const message = `${options.doing}: the disk has no room for ${job.bytes} bytes above its reserve; free some.`
    job.refuse(new StoreRefused({ code: "full", message }))
    return false
  })
}

/** Makes the one writer of an environment. */
export const makeGroupCommit = (options: GroupCommitOptions): GroupCommit => {
  const queue: Array<QueuedJob> = []
  let isScheduled = false
  let isClosed = false

  const takeBatch = (): ReadonlyArray<QueuedJob> => {
    let bytes = 0
    const end = queue.findIndex((job, index) => {
      bytes += job.bytes
      return index > 0 && bytes > TRANSACTION_BYTES
    })
    return queue.splice(0, end < 0 ? queue.length : end)
  }
  const flush = (): void => {
    isScheduled = false
    commitTogether(options, refuseWithoutRoom(options, takeBatch()))
    if (queue.length > 0) schedule()
  }
  const schedule = (): void => {
    if (isScheduled) return
    isScheduled = true
    setImmediate(flush)
  }
  const closed = new StoreRefused({
    code: "unavailable",
    message: `${options.doing}: the store is closed.`
  })

  return {
    commit: <A>(job: WriteJob<A>) =>
      Effect.callback<A, StoreRefused>((resume) => {
        if (isClosed) return resume(Effect.fail(closed))
        let result: { readonly value: A } | undefined
        const queued: QueuedJob = {
          bytes: job.bytes,
          freesRoom: job.freesRoom ?? false,
          run: () => {
            result = { value: job.run() }
          },
          answer: () => {
            resume(
              result === undefined ? Effect.die("a job was not run") : Effect.succeed(result.value)
            )
          },
          refuse: (refusal) => resume(Effect.fail(refusal)),
          die: (defect) => resume(Effect.die(defect))
        }
        queue.push(queued)
        schedule()
      }).pipe(Effect.uninterruptible),
    close: Effect.sync(() => {
      isClosed = true
      while (queue.length > 0) flush()
    })
  }
}
