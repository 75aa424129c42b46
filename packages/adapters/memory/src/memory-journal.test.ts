import { describeJournalContract } from "@holdfast/suites"
import { Effect } from "effect"
import { MemoryDisk } from "./memory-disk.ts"
import { memoryJournal } from "./memory-journal.ts"

const entryBytesMax = 8_388_608

const storage = Effect.map(MemoryDisk.make(), (disk) => ({
  disk,
  layer: memoryJournal(disk, { entryBytesMax })
}))

describeJournalContract({
  name: "memory",
  entryBytesMax,
  storage,
  tearTail: ({ disk }) => disk.apply({ _tag: "TearLast", file: "journal" }),
  damageFirst: ({ disk }) =>
    disk.apply({ _tag: "FlipBit", file: "journal", key: "a/0000000000000000", byte: 5, bit: 3 }),
  room: {
    take: ({ disk }) => disk.apply({ _tag: "Capacity", bytes: 500 }),
    giveBack: ({ disk }) => disk.apply({ _tag: "Capacity", bytes: Number.MAX_SAFE_INTEGER })
  }
})
