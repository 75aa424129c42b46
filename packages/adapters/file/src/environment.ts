/**
 * One LMDB environment in one directory.
 *
 * 1. While it is open no other process opens it (`locked`), unless it is opened as shared: then
 *    any number may, and each transaction sees the commits of all before it.
 * 2. It is the kind of store, and the cluster's, that was asked for, or it is refused unchanged.
 * 3. Reads see every commit that was answered. Writes go through `commit` alone.
 * 4. A data file that is not LMDB's is refused, and one that was cut short is filled up with zeros,
 *    before LMDB reads it: a read of what is missing is then an error, not the end of the process.
 * 5. One whose trees cannot be walked is refused before LMDB walks them: see `store-check.ts`.
 */
import { Effect, Result } from "effect"
import type { Scope } from "effect"
import { open } from "lmdb"
import type { Database, RootDatabase } from "lmdb"
import { statfsSync } from "node:fs"
import { DATA_FILE, fillUpDataFile, hasDataFile, removeLockFile } from "./data-file.ts"
import { holdDirectory, inTurn } from "./directory-lock.ts"
import { checkTrees, noteInUse } from "./store-check.ts"
import { makeGroupCommit } from "./group-commit.ts"
import type { GroupCommit } from "./group-commit.ts"
import {
  checkIdentity,
  decodeIdentity,
  encodeIdentity,
  FORMAT_VERSION,
  readIdentityFile,
  writeIdentityFile
} from "./store-identity.ts"
import type { StoreIdentity } from "./store-identity.ts"
import { refusalOf, StoreRefused } from "./store-refused.ts"

/** Address space that is set aside for the file; it is not disk space. */
const MAP_BYTES = 1_099_511_627_776
/** Room on the disk that is kept free for what frees room. */
const RESERVE_BYTES = 16_777_216

/** Where a store is and what it should be. */
export interface StoreOptions {
  readonly directory: string
  /** The cluster that the store belongs to; a store of another one is refused. */
  readonly clusterId?: string
  /** Bytes of the disk that stay free; 16 MiB if absent. */
  readonly reserveBytes?: number
  /** How many bytes the disk has free; asked of the file system if absent. */
  readonly freeBytes?: () => number
}

/** A table: keys and values as bytes, keys in bytewise order, at most 1,978 bytes long. */
export type Table = Database<Buffer, Buffer>

/** An open environment. */
export interface Environment extends Pick<GroupCommit, "commit"> {
  readonly directory: string
  readonly table: (name: string) => Table
  /** Reads; what LMDB throws becomes a refusal. */
  readonly read: <A>(read: () => A) => Effect.Effect<A, StoreRefused>
  /** How many transactions the store has seen. */
  readonly transactions: Effect.Effect<number, StoreRefused>
}

const openRoot = (directory: string): RootDatabase<Buffer, Buffer> =>
  open<Buffer, Buffer>({
    path: directory,
    noSubdir: false,
    encoding: "binary",
    keyEncoding: "binary",
    mapSize: MAP_BYTES,
    maxDbs: 16,
    // A commit returns after `fdatasync` of its pages and a synced write of its head.
    overlappingSync: false
  })

const IDENTITY_KEY = Buffer.from("identity")

/** Compares the identity in the data file with the one wanted, and writes it into a new file. */
const settleIdentity = (
  directory: string,
  root: RootDatabase<Buffer, Buffer>,
  wanted: StoreIdentity
): Result.Result<void, StoreRefused> => {
  const table = root.openDB({ name: "identity", encoding: "binary", keyEncoding: "binary" })
  const stored: Buffer | undefined = table.get(IDENTITY_KEY)
  const noted = readIdentityFile(directory)
  const text = stored?.toString("utf8") ?? noted
  if (text !== undefined) {
    const checked = Result.flatMap(decodeIdentity(text, directory), (found) =>
      checkIdentity(directory, found, wanted)
    )
    if (Result.isFailure(checked)) return checked
  }
  if (stored === undefined && noted !== undefined) {
    const message = `${directory} has lost its data: its file is empty or another store's.`
    return Result.fail(new StoreRefused({ code: "corrupt", message }))
  }
  if (stored === undefined) {
    root.transactionSync(() => table.putSync(IDENTITY_KEY, Buffer.from(encodeIdentity(wanted))))
  }
  return Result.succeed(undefined)
}

/**
 * Refuses a directory whose data file is gone or has no heads, before LMDB would open or make one;
 * answers whether there is a file.
 */
const checkFiles = (directory: string, isShared: boolean): boolean => {
  if (!isShared) removeLockFile(directory)
  if (hasDataFile(directory)) return true
  if (readIdentityFile(directory) === undefined) return false
  throw new StoreRefused({ code: "corrupt", message: `${directory} has lost its ${DATA_FILE}.` })
}

const attempt = <A>(doing: string, act: () => A): Effect.Effect<A, StoreRefused> =>
  Effect.try({ try: act, catch: (cause) => refusalOf(cause, doing) })

/** Opens the data file, or makes it, and sees that it is the store that is wanted. */
const openChecked = Effect.fnUntraced(function* (
  directory: string,
  wanted: StoreIdentity,
  isShared: boolean
) {
  const doing = `The ${wanted.kind} store in ${directory}`
  const isThere = yield* attempt(doing, () => checkFiles(directory, isShared))
  // Others may write into a store that is shared, so its pages stand still for nobody.
  if (isThere && !isShared) yield* checkTrees(directory)
  if (!isShared) yield* noteInUse(directory)
  const root = yield* Effect.acquireRelease(
    attempt(doing, () => openRoot(directory)),
    (opened) => Effect.promise(() => opened.close())
  )
  yield* attempt(doing, () => fillUpDataFile(directory, root))
  const settle = attempt(doing, () => settleIdentity(directory, root, wanted))
  yield* Effect.flatMap(settle, Effect.fromResult)
  if (readIdentityFile(directory) === undefined) {
    yield* Effect.tryPromise({
      try: () => writeIdentityFile(directory, wanted),
      catch: (cause) => refusalOf(cause, doing)
    })
  }
  return root
})

/** Opens, or makes, the store of a kind in a directory until the scope closes. */
export const openEnvironment = Effect.fn("Environment.open")(function* (
  options: StoreOptions & { readonly kind: string; readonly isShared?: boolean }
): Effect.fn.Return<Environment, StoreRefused, Scope.Scope> {
  const { clusterId = "", directory, isShared = false, kind } = options
  const { reserveBytes = RESERVE_BYTES } = options
  const doing = `The ${kind} store in ${directory}`
  if (!isShared) yield* holdDirectory(directory)
  const wanted = { formatVersion: FORMAT_VERSION, kind, clusterId }
  const opening = openChecked(directory, wanted, isShared)
  const root = yield* isShared ? inTurn(directory)(opening) : opening
  const freeBytes =
    options.freeBytes ??
    (() => {
      const { bavail, bsize } = statfsSync(directory)
      return bavail * bsize
    })
  const writer = yield* Effect.acquireRelease(
    Effect.sync(() => makeGroupCommit({ root, doing, freeBytes, reserveBytes })),
    ({ close }) => close
  )
  return {
    directory,
    commit: writer.commit,
    table: (name) => root.openDB({ name, encoding: "binary", keyEncoding: "binary" }),
    read: (read) =>
      attempt(doing, () => {
        // Another process's commits are seen from a new transaction on.
        if (isShared) root.resetReadTxn()
        return read()
      }),
    transactions: attempt(doing, () => Number(Reflect.get(root.getStats(), "lastTxnId")))
  }
})
