/**
 * Journals that an earlier version kept in LMDB are read once and written anew.
 *
 *     data.mdb (kind "journal") ─▶ log-0, snapshot-1, log-1 ─▶ store.json (kind "journal-log")
 *                                                               └─▶ data.mdb is removed
 *
 * The new `store.json` makes the copy count. Before it, whatever a crash left of a copy is removed
 * and made again; after it, the old file is no more than rubble. The snapshot's parts are in memory
 * together while they are copied.
 */
import { Journal, type JournalError } from "@holdfast/storage"
import { Context, Effect, Layer, Result, Stream } from "effect"
import { existsSync } from "node:fs"
import { readdir, rm } from "node:fs/promises"
import { join } from "node:path"
import { DATA_FILE } from "./data-file.ts"
import { lmdbJournal } from "./lmdb-journal.ts"
import { attempt, type FileJournalOptions, JOURNAL_KIND, openLogJournal } from "./log-journal.ts"
import {
  decodeIdentity,
  FORMAT_VERSION,
  readIdentityFile,
  writeIdentityFile
} from "./store-identity.ts"

/** The kind that journals in LMDB have. */
const OLD_KIND = "journal"
/** Entries that one append of the copy carries. */
const TOGETHER = 256

const isOld = (directory: string): boolean => {
  const text = readIdentityFile(directory)
  if (text === undefined) return existsSync(join(directory, DATA_FILE))
  const identity = decodeIdentity(text, directory)
  return Result.isSuccess(identity) && identity.success.kind === OLD_KIND
}

const removeCopy = async (directory: string): Promise<void> => {
  for (const name of await readdir(directory)) {
    if (/^(log|snapshot)-\d+(\.draft)?$/.test(name)) await rm(join(directory, name))
  }
}

/** Removes what LMDB has left behind. */
export const removeOldFiles = async (directory: string): Promise<void> => {
  for (const name of [DATA_FILE, "lock.mdb"]) await rm(join(directory, name), { force: true })
}

const copy = Effect.fnUntraced(function* (options: FileJournalOptions) {
  const { clusterId = "", directory } = options
  const context = yield* Layer.build(lmdbJournal(options))
  const { entries, snapshot } = yield* Context.get(context, Journal).recover
  yield* attempt(directory, () => removeCopy(directory))
  const journal = yield* openLogJournal({ ...options, mustExist: false })
  yield* journal.compact(yield* Stream.runCollect(snapshot))
  yield* entries.pipe(Stream.grouped(TOGETHER), Stream.runForEach(journal.append))
  const identity = { formatVersion: FORMAT_VERSION, kind: JOURNAL_KIND, clusterId }
  yield* attempt(directory, () => writeIdentityFile(directory, identity))
})

/** Copies a journal in LMDB, where there is one, into the files of this version. */
export const importOldJournal = Effect.fnUntraced(function* (
  options: FileJournalOptions
): Effect.fn.Return<void, JournalError> {
  const { directory } = options
  if (!(yield* attempt(directory, async () => isOld(directory)))) return
  yield* Effect.scoped(copy(options))
  yield* Effect.logInfo(`the journal in ${directory} was copied from LMDB into files of its own`)
})
