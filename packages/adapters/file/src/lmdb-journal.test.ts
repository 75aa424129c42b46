import { assert, describe, it } from "@effect/vitest"
import { Journal } from "@holdfast/storage"
import { describeJournalContract } from "@holdfast/suites"
import { Context, Effect, Fiber, Layer, Stream } from "effect"
import {
  damageValue,
  removeValue,
  room,
  temporaryDirectory,
  temporaryStorage
} from "./testing/harm.ts"
import { lmdbJournal } from "./lmdb-journal.ts"

const entryBytesMax = 8_388_608

const storage = Effect.map(temporaryStorage("journal"), (made) => ({
  ...made,
  layer: lmdbJournal({ ...made.options, entryBytesMax })
}))

describeJournalContract({
  name: "LMDB",
  entryBytesMax,
  storage,
  damageFirst: ({ directory }) => damageValue({ directory, table: "appends", isMeant: () => true }),
  room
})

describe("lmdbJournal", () => {
  const open = (directory: string) =>
    Effect.map(Layer.build(lmdbJournal({ directory })), (context) => Context.get(context, Journal))
  const entry = (text: string) => [Buffer.from(text)]

  for (const number of [0, 1, 2]) {
    it.live(`an append that disappeared is missed: number ${number} of 3`, () =>
      Effect.gen(function* () {
        const directory = yield* temporaryDirectory("journal")
        yield* Effect.scoped(
          Effect.flatMap(open(directory), (journal) =>
            Effect.forEach(["a", "b", "c"], (text) => journal.append(entry(text)))
          )
        )
        const isMeant = (key: Buffer) => key.readBigUInt64BE(0) === BigInt(number)
        yield* removeValue({ directory, table: "appends", isMeant })
        const journal = yield* open(directory)
        const error = yield* Effect.flip(journal.recover)
        assert.deepStrictEqual([error.code, error.message.includes("1 appends")], ["corrupt", true])
      })
    )
  }

  it.live("appends that come while a snapshot is written are kept after it", () =>
    Effect.gen(function* () {
      const directory = yield* temporaryDirectory("journal")
      yield* Effect.scoped(
        Effect.gen(function* () {
          const journal = yield* open(directory)
          yield* journal.append(entry("before"))
          const parts = Array.from({ length: 40 }, () => new Uint8Array(500_000))
          const compacting = yield* Effect.forkChild(journal.compact(parts), {
            startImmediately: true
          })
          const during = ["1", "2", "3"]
          yield* Effect.forEach(during, (text) => journal.append(entry(text)))
          yield* Fiber.join(compacting)
          assert.deepStrictEqual(yield* journal.size, { entries: 3, bytes: 3 })
        })
      )
      const { entries, snapshot } = yield* Effect.flatMap(open(directory), ({ recover }) => recover)
      assert.strictEqual(yield* Stream.runCount(snapshot), 40)
      const texts = Stream.map(entries, (each) => Buffer.from(each).toString())
      assert.deepStrictEqual(yield* Stream.runCollect(texts), ["1", "2", "3"])
    })
  )

  it.live("a snapshot that was not finished is forgotten, and what was before it stays", () =>
    Effect.gen(function* () {
      const { directory, disk, options } = yield* temporaryStorage("journal")
      yield* Effect.scoped(
        Effect.gen(function* () {
          const context = yield* Layer.build(lmdbJournal(options))
          const journal = Context.get(context, Journal)
          yield* journal.compact(entry("first"))
          yield* journal.append(entry("kept"))
          const parts = function* () {
            for (let count = 0; count < 20; count++) {
              if (count === 15) disk.free = 0
              yield new Uint8Array(1_000_000)
            }
          }
          const error = yield* Effect.flip(journal.compact(parts()))
          assert.strictEqual(error.code, "full")
        })
      )
      const { entries, snapshot } = yield* Effect.flatMap(open(directory), ({ recover }) => recover)
      assert.strictEqual(yield* Stream.runCount(snapshot), 1)
      assert.strictEqual(yield* Stream.runCount(entries), 1)
    })
  )
})
