/** Mistakes of the journal and of the rules that stand on it. */
import { crc32 } from "node:zlib"
import { decodeJournal, encodeJournal, type JournalEntry } from "@holdfast/chunk-map"
import type { Journal } from "@holdfast/storage"
import { Effect, Result, Stream } from "effect"
import type { Mutant } from "./mutant.ts"

type JournalPort = Journal["Service"]

const acknowledgesEarly = (journal: JournalPort): JournalPort => ({
  ...journal,
  append: (records) => Effect.asVoid(Effect.forkDetach(journal.append(records)))
})

/** Writes all entries but those of one kind. */
const forgetting =
  (tag: JournalEntry["_tag"]) =>
  (journal: JournalPort): JournalPort => ({
    ...journal,
    append: (records) => {
      const entries = records
        .flatMap((record) => Result.getOrThrow(decodeJournal(record, crc32)))
        .filter(({ _tag }) => _tag !== tag)
      return journal.append([...encodeJournal(entries, (bytes) => crc32(bytes))])
    }
  })

const losesTail = (journal: JournalPort): JournalPort => ({
  ...journal,
  recover: Effect.map(journal.recover, (contents) => ({
    ...contents,
    entries: Stream.unwrap(
      Effect.map(Stream.runCollect(contents.entries), (all) =>
        Stream.fromIterable(all.slice(0, -2))
      )
    )
  }))
})

/** Mistakes of the journal. */
export const journalMutants: ReadonlyArray<Mutant> = [
  {
    name: "the journal acknowledges an append before it is durable",
    profile: "chunks",
    seams: { journal: acknowledgesEarly }
  },
  {
    name: "the journal forgets what was freed",
    profile: "chunks",
    seams: { journal: forgetting("Freed") }
  },
  {
    name: "the journal forgets the high-water marks",
    profile: "chunks",
    seams: { journal: forgetting("Marks") }
  },
  {
    name: "a recovery takes the last appends for a torn tail",
    profile: "chunks",
    seams: { journal: losesTail }
  },
  {
    name: "unknown copies are deleted at once",
    profile: "chunks",
    seams: { map: { quarantineMs: 0 } }
  },
  {
    name: "safe mode is left before any device has reported",
    profile: "chunks",
    seams: { map: { safeModeThreshold: 0, devicesMin: 0, extensionMs: 0 } }
  },
  {
    name: "repair never begins",
    profile: "chunks",
    seams: { map: { repairDelayMs: 10_000_000 } }
  }
]
