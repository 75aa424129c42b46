/** The journal of a service that knows many chunks of one byte, in files of 1,024. */
import { crc32 } from "node:zlib"
import { encodeJournal, type JournalEntry } from "@holdfast/chunk-map"
import { Journal } from "@holdfast/storage"
import { Effect } from "effect"

/** The copy of one of these chunks, by its place. */
export const copyOf = (index: number) => ({
  fileId: 1 + (index >> 10),
  chunkId: index & 1023,
  version: 1 + index,
  length: 1,
  checksum: 1
})

/** Writes a journal that knows so many chunks, each with a goal of one copy. */
export const seedChunks = Effect.fnUntraced(function* (chunks: number) {
  const journal = yield* Journal
  const entries = function* (): Generator<JournalEntry> {
    yield { _tag: "Marks", fileIdLimit: chunks, versionLimit: chunks + 1 }
    for (let index = 0; index < chunks; index++) {
      yield { _tag: "Committed", ...copyOf(index), goal: 1 }
    }
  }
  yield* journal.compact(encodeJournal(entries(), crc32))
})
