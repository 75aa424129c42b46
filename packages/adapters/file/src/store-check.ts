/**
 * When the trees of a data file are walked before LMDB opens it: always while it is small, and
 * after a process that held it did not close it. So a page that was lost ends one process at most;
 * the next one is refused with a sentence.
 */
import { Effect } from "effect"
import type { Scope } from "effect"
import { closeSync, existsSync, fstatSync, openSync, unlinkSync } from "node:fs"
import { join } from "node:path"
import { DATA_FILE } from "./data-file.ts"
import { replaceFile } from "./durable-file.ts"
import { damageOf } from "./lmdb-walk.ts"
import { refusalOf, StoreRefused } from "./store-refused.ts"

/** Stands in a store directory while a process has it open. */
const IN_USE_FILE = "in-use"
/** Files up to this size, in bytes, are walked at each opening, which takes about a second. */
const ALWAYS_BYTES_MAX = 134_217_728

/** Refuses a data file, whose heads are sound, when its trees cannot be walked. */
export const checkTrees = Effect.fnUntraced(function* (
  directory: string
): Effect.fn.Return<void, StoreRefused> {
  const path = join(directory, DATA_FILE)
  const doing = `The store in ${directory}`
  const opened = Effect.try({
    try: () => openSync(path, "r"),
    catch: (cause) => refusalOf(cause, doing)
  })
  const damage = yield* Effect.acquireUseRelease(
    opened,
    (file) =>
      Effect.suspend(() => {
        const wasClosed = !existsSync(join(directory, IN_USE_FILE))
        return wasClosed && fstatSync(file).size > ALWAYS_BYTES_MAX
          ? Effect.undefined
          : damageOf(file)
      }),
    (file) => Effect.sync(() => closeSync(file))
  )
  if (damage === undefined) return
  const message =
    `${path} is damaged, ${damage}; the disk may be failing. Move ${directory} away and start ` +
    "without it, or put a sound copy in its place."
  return yield* new StoreRefused({ code: "corrupt", message })
})

/** Notes that the store is open, until the scope closes; a process that is killed leaves it. */
export const noteInUse = (directory: string): Effect.Effect<void, StoreRefused, Scope.Scope> => {
  const path = join(directory, IN_USE_FILE)
  return Effect.acquireRelease(
    Effect.tryPromise({
      try: () => replaceFile(path, Buffer.alloc(0)),
      catch: (cause) => refusalOf(cause, `The store in ${directory}`)
    }),
    () =>
      Effect.sync(() => {
        if (existsSync(path)) unlinkSync(path)
      })
  )
}
