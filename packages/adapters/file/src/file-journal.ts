/**
 * The Journal port in a directory of its own: held by one process, and known for what it is.
 *
 *     store.json    kind "journal-log" and the cluster; written when the first log is durable
 *     holder.lock   held while it is open
 *
 * A directory that says it is a journal and has no log is refused: its data is lost, not new.
 */
import { Journal, type JournalError } from "@holdfast/storage"
import { Effect, Layer, Result, type Scope } from "effect"
import { holdDirectory } from "./directory-lock.ts"
import {
  asJournalError,
  attempt,
  type FileJournalOptions,
  JOURNAL_KIND,
  openLogJournal
} from "./log-journal.ts"
import { importOldJournal, removeOldFiles } from "./old-journal.ts"
import {
  checkIdentity,
  decodeIdentity,
  FORMAT_VERSION,
  readIdentityFile,
  writeIdentityFile
} from "./store-identity.ts"

const open = Effect.fnUntraced(function* (
  options: FileJournalOptions
): Effect.fn.Return<Journal["Service"], JournalError, Scope.Scope> {
  const { clusterId = "", directory } = options
  const wanted = { formatVersion: FORMAT_VERSION, kind: JOURNAL_KIND, clusterId }
  yield* importOldJournal(options)
  yield* Effect.mapError(holdDirectory(directory), (error) => asJournalError(error, directory))
  const noted = yield* attempt(directory, async () => {
    const text = readIdentityFile(directory)
    if (text === undefined) return undefined
    return Result.getOrThrowWith(
      Result.flatMap(decodeIdentity(text, directory), (found) =>
        Result.map(checkIdentity(directory, found, wanted), () => found)
      ),
      (refusal) => refusal
    )
  })
  const journal = yield* openLogJournal({ ...options, mustExist: noted !== undefined })
  yield* attempt(directory, async () => {
    if (noted === undefined) await writeIdentityFile(directory, wanted)
    await removeOldFiles(directory)
  })
  return journal
})

/** A Journal in a directory, held by this process until the scope closes. */
export const fileJournal = (options: FileJournalOptions): Layer.Layer<Journal, JournalError> =>
  Layer.effect(Journal, open(options))
