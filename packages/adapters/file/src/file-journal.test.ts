import { describeJournalContract } from "@holdfast/suites"
import { Effect } from "effect"
import { damageValue, room, temporaryStorage } from "./testing/harm.ts"
import { fileJournal } from "./index.ts"

const entryBytesMax = 8_388_608

const storage = Effect.map(temporaryStorage("journal"), (made) => ({
  ...made,
  layer: fileJournal({ ...made.options, entryBytesMax })
}))

describeJournalContract({
  name: "file",
  entryBytesMax,
  storage,
  damageFirst: ({ directory }) => damageValue({ directory, table: "appends", isMeant: () => true }),
  room
})
