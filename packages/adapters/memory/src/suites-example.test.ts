import { MemoryDisk, memoryJournal } from "@holdfast/adapter-memory"
import { describeJournalContract } from "@holdfast/suites"
import { Effect } from "effect"

const storage = Effect.map(MemoryDisk.make(), (disk) => ({ disk, layer: memoryJournal(disk) }))

describeJournalContract({
  name: "memory",
  storage,
  tearTail: ({ disk }) => disk.apply({ _tag: "TearLast", file: "journal" })
})
