/**
 * The lock of a store directory: one process at a time, and none when that process is gone.
 *
 * Node has no `flock`, and a file with a process number in it is wrong after a kill and a reuse of
 * the number, and across containers. SQLite, which Node brings along, takes real locks of the
 * operating system on a file; an exclusive transaction that is never ended is such a lock. The
 * system drops it with the process, however that ends. Nothing is ever written to that file.
 *
 * A store that several processes share is opened in turn, so that only one of them makes it.
 */
import { Effect, Schedule } from "effect"
import type { Scope } from "effect"
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { StoreRefused } from "./store-refused.ts"

/** The lock's file inside a store directory. */
const LOCK_FILE = "holder.lock"
/** SQLite's number for a lock that another holds. */
const SQLITE_BUSY = 5

const isHeldByAnother = (cause: unknown): boolean =>
  typeof cause === "object" && cause !== null && "errcode" in cause && cause.errcode === SQLITE_BUSY

const takeLock = (directory: string): DatabaseSync => {
  mkdirSync(directory, { recursive: true })
  const lock = new DatabaseSync(join(directory, LOCK_FILE), { timeout: 0 })
  try {
    lock.exec("PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = OFF; BEGIN EXCLUSIVE")
    return lock
  } catch (cause) {
    lock.close()
    throw cause
  }
}

const refusedLock = (directory: string, cause: unknown): StoreRefused =>
  isHeldByAnother(cause)
    ? new StoreRefused({
        code: "locked",
        message: `${directory} is held by another process; stop that one, or name another directory.`
      })
    : new StoreRefused({
        code: "unavailable",
        message: `${directory} cannot be locked: ${String(cause)}`
      })

const lockDirectory = (directory: string): Effect.Effect<DatabaseSync, StoreRefused> =>
  Effect.try({
    try: () => takeLock(directory),
    catch: (cause) => refusedLock(directory, cause)
  })

const unlock = (lock: DatabaseSync): Effect.Effect<void> => Effect.sync(() => lock.close())

/** Holds a directory, made when there is none, until the scope closes. */
export const holdDirectory = (directory: string): Effect.Effect<void, StoreRefused, Scope.Scope> =>
  Effect.asVoid(Effect.acquireRelease(lockDirectory(directory), unlock))

/** How often, and for how long, a turn is waited for. */
const TURN = Schedule.spaced("20 millis").pipe(Schedule.upTo({ duration: "10 seconds" }))

/**
 * Does something while no other process that takes turns does; waits for its turn, not for ever.
 */
export const inTurn =
  (directory: string) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E | StoreRefused, R> =>
    Effect.acquireUseRelease(
      Effect.retry(lockDirectory(directory), {
        schedule: TURN,
        while: ({ code }) => code === "locked"
      }),
      () => effect,
      unlock
    )
