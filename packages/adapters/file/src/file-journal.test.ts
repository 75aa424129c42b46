import { describeJournalContract } from "@holdfast/suites"
import { Effect } from "effect"
import { damageValue, room, temporaryStorage } from "./harm.ts"
import { fileJournal } from "./index.ts"

const entryBytesMax = 8_388_608

describeJournalContract({
  name: "file",
  entryBytesMax,
  storage: Effect.map(temporaryStorage("journal"), (storage) => ({
    ...storage,
    layer: fileJournal({ ...storage.options, entryBytesMax })
  })),
  damageFirst: ({ directory }) => damageValue({ directory, table: "appends", isMeant: () => true }),
  room
})
