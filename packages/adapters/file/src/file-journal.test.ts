import { assert, describe, it } from "@effect/vitest"
import { Journal } from "@holdfast/storage"
import { describeJournalContract } from "@holdfast/suites"
import { Context, Effect, Layer, Stream } from "effect"
import { readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { room, temporaryDirectory, temporaryStorage } from "./testing/harm.ts"
import { fileJournal } from "./index.ts"
import { lmdbJournal } from "./lmdb-journal.ts"

const entryBytesMax = 8_388_608

const storage = Effect.map(temporaryStorage("journal"), (made) => ({
  ...made,
  layer: fileJournal({ ...made.options, entryBytesMax })
}))

const edit = (path: string, change: (bytes: Buffer) => void) => {
  const bytes = readFileSync(path)
  change(bytes)
  writeFileSync(path, bytes)
}

describeJournalContract({
  name: "file",
  entryBytesMax,
  storage,
  tearTail: ({ directory }) =>
    Effect.sync(() => {
      const path = join(directory, "log-0")
      truncateSync(path, readFileSync(path).length - 7)
    }),
  damageFirst: ({ directory }) =>
    Effect.sync(() =>
      edit(join(directory, "log-0"), (bytes) => {
        const at = bytes.indexOf("aaaa")
        bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at)
      })
    ),
  room
})

const open = (directory: string, layer = fileJournal) =>
  Effect.map(Layer.build(layer({ directory })), (context) => Context.get(context, Journal))
const entry = (text: string) => [Buffer.from(text)]
const texts = (stream: Stream.Stream<Uint8Array, unknown>) =>
  Stream.runCollect(Stream.map(stream, (each) => Buffer.from(each).toString()))
const contentsOf = (directory: string) =>
  Effect.scoped(
    Effect.gen(function* () {
      const { entries, snapshot } = yield* Effect.flatMap(open(directory), ({ recover }) => recover)
      return { snapshot: yield* texts(snapshot), entries: yield* texts(entries) }
    })
  )

/** A journal of a snapshot and two logs: the second compaction found no room. */
const filled = Effect.fnUntraced(function* () {
  const { directory, disk, options } = yield* temporaryStorage("journal")
  yield* Effect.scoped(
    Effect.gen(function* () {
      const journal = Context.get(yield* Layer.build(fileJournal(options)), Journal)
      yield* journal.append(entry("before"))
      yield* journal.compact(entry("the snapshot of what was before"))
      yield* journal.append(entry("first of the log"))
      disk.free = 0
      const error = yield* Effect.flip(journal.compact(entry("no room")))
      assert.strictEqual(error.code, "full")
      disk.free = Number.MAX_SAFE_INTEGER
      yield* journal.append(entry("second of the log"))
      yield* journal.append(entry("third of the log"))
    })
  )
  return directory
})

const whole = {
  snapshot: ["the snapshot of what was before"],
  entries: ["first of the log", "second of the log", "third of the log"]
}

describe("fileJournal", () => {
  it.live("metadata-B52: keeps what was appended when a snapshot finds no room", () =>
    Effect.gen(function* () {
      const directory = yield* filled()
      assert.deepStrictEqual(yield* contentsOf(directory), whole)
      assert.deepStrictEqual(readdirSync(directory).toSorted(), [
        "holder.lock",
        "log-1",
        "log-2",
        "snapshot-1",
        "store.json"
      ])
    })
  )

  for (const gone of ["snapshot-1", "log-1", "log-2"]) {
    it.live(`is corrupt without its ${gone}`, () =>
      Effect.gen(function* () {
        const directory = yield* filled()
        rmSync(join(directory, gone))
        const error = yield* Effect.flip(contentsOf(directory))
        assert.strictEqual((error as { code?: string }).code, "corrupt")
      })
    )
  }

  it.live("is corrupt, not new, when all of its files are gone", () =>
    Effect.gen(function* () {
      const directory = yield* filled()
      for (const name of ["snapshot-1", "log-1", "log-2"]) rmSync(join(directory, name))
      const error = yield* Effect.flip(contentsOf(directory))
      assert.strictEqual((error as { code?: string }).code, "corrupt")
    })
  )

  it.live("takes over a journal that an earlier version kept in LMDB, also after a crash", () =>
    Effect.gen(function* () {
      const directory = yield* temporaryDirectory("journal")
      yield* Effect.scoped(
        Effect.gen(function* () {
          const old = yield* open(directory, lmdbJournal)
          yield* old.append(entry("a"))
          yield* old.compact(["s1", "s2"].map((text) => Buffer.from(text)))
          yield* old.append([...entry("b"), ...entry("c")])
        })
      )
      // What a crash may leave of an earlier attempt.
      writeFileSync(join(directory, "log-0"), "half a copy")
      writeFileSync(join(directory, "snapshot-4"), "another half")
      const expected = { snapshot: ["s1", "s2"], entries: ["b", "c"] }
      assert.deepStrictEqual(yield* contentsOf(directory), expected)
      assert.deepStrictEqual(yield* contentsOf(directory), expected)
      assert.notInclude(readdirSync(directory), "data.mdb")
    })
  )

  it.live("another cluster's journal is refused", () =>
    Effect.gen(function* () {
      const directory = yield* temporaryDirectory("journal")
      const of = (clusterId: string) =>
        Effect.scoped(Layer.build(fileJournal({ directory, clusterId })))
      yield* of("north")
      const error = yield* Effect.flip(of("south"))
      assert.include(error.message, `belongs to cluster "north"`)
    })
  )
})
