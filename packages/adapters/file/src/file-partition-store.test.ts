import { assert, describe, it } from "@effect/vitest"
import { PartitionStore } from "@holdfast/storage"
import type { PartitionWrite } from "@holdfast/storage"
import { describePartitionStoreContract } from "@holdfast/suites"
import { Context, Effect, Layer, Option } from "effect"
import fc from "fast-check"
import { countValues, damageValue, room, temporaryStorage } from "./testing/harm.ts"
import { filePartitionStore } from "./index.ts"
import { tagKey, tagRecordOf } from "./partition-keys.ts"

const storage = Effect.map(temporaryStorage("partitions"), (made) => ({
  ...made,
  layer: filePartitionStore(made.options)
}))

const isPartition =
  ({ application, key }: { readonly application: string; readonly key: string }) =>
  (tableKey: Buffer) =>
    tableKey.toString("hex").endsWith(key) && tableKey.toString().startsWith(application)

describePartitionStoreContract({
  name: "file",
  storage,
  damage: ({ directory }, address) =>
    damageValue({ directory, table: "partitions", isMeant: isPartition(address) }),
  room
})

const keyOf = (digits: string): string => digits.padStart(64, "0")
const write = (digits: string, tags: ReadonlyArray<string>): PartitionWrite => ({
  application: "archive",
  key: keyOf(digits),
  state: Option.some(Buffer.from(digits)),
  tags: tags.map((tag) => Buffer.from(tag))
})
const everything = {
  application: "archive",
  after: Option.none(),
  upTo: Option.none(),
  ranges: [[keyOf("0"), "f".repeat(64)]],
  limit: 10_000
} as const

describe("filePartitionStore", () => {
  it("peer-P8: the order of index keys is the order of (tag, key), and they are read back", () => {
    const anyTag = fc.array(fc.constantFrom(0, 1, 0x61, 0xfe, 0xff), { maxLength: 5 })
    const anyKey = fc.integer({ min: 0, max: 15 }).map((digit) => keyOf(digit.toString(16)))
    const anyRecord = fc.record({ tag: anyTag.map((tag) => Uint8Array.from(tag)), key: anyKey })
    fc.assert(
      fc.property(anyRecord, anyRecord, (a, b) => {
        const stored = tagKey("app", a.tag, a.key).compare(tagKey("app", b.tag, b.key))
        const wanted = Buffer.compare(a.tag, b.tag) || (a.key < b.key ? -1 : a.key > b.key ? 1 : 0)
        assert.strictEqual(Math.sign(stored), Math.sign(wanted))
        assert.deepStrictEqual(tagRecordOf(tagKey("app", a.tag, a.key)), a)
      })
    )
  })

  it.live("removes all index records of a partition whose own list of them is damaged", () =>
    Effect.gen(function* () {
      const { directory, layer } = yield* storage
      const open = Effect.map(Layer.build(Layer.fresh(layer)), (context) =>
        Context.get(context, PartitionStore)
      )
      const partitions = [write("1", ["a", "b"]), write("2", ["a", "c"])]
      yield* Effect.scoped(Effect.flatMap(open, (store) => store.commit({ partitions, facts: [] })))
      const isMeant = isPartition({ application: "archive", key: keyOf("1") })
      yield* damageValue({ directory, table: "partitions", isMeant })
      const store = yield* open
      yield* store.commit({ partitions: [write("1", ["d"])], facts: [] })
      const page = yield* store.page(everything)
      const shown = page.map(({ key, tag }) => `${Buffer.from(tag).toString()}${key.slice(-1)}`)
      assert.deepStrictEqual(shown, ["a2", "c2", "d1"])
      // The bytes that were written over are kept for whoever looks into it.
      assert.strictEqual(yield* countValues({ directory, table: "quarantine" }), 1)
    })
  )

  it.live("peer-T18: keys stored as 5, 1, 3 are scanned as 1, 3, 5, one batch after another", () =>
    Effect.gen(function* () {
      const { layer } = yield* storage
      const store = Context.get(yield* Layer.build(layer), PartitionStore)
      for (const digits of ["5", "1", "3"]) {
        yield* store.commit({ partitions: [write(digits, [])], facts: [] })
      }
      const walked: Array<string> = []
      for (;;) {
        const after = Option.fromUndefinedOr(walked.at(-1))
        const [next] = yield* store.scan({ ...everything, after, limit: 1 })
        if (next === undefined) break
        walked.push(next.key)
      }
      assert.deepStrictEqual(walked, ["1", "3", "5"].map(keyOf))
    })
  )

  it.live("refuses names, keys and tags that it could not store, and stores nothing of them", () =>
    Effect.gen(function* () {
      const { layer } = yield* storage
      const store = Context.get(yield* Layer.build(layer), PartitionStore)
      const good = write("1", ["a"])
      const refused: ReadonlyArray<PartitionWrite> = [
        { ...good, application: "" },
        { ...good, application: "a\0b" },
        { ...good, key: "1" },
        { ...good, tags: [new Uint8Array(513)] },
        { ...good, state: Option.some(new Uint8Array(67_108_865)) }
      ]
      for (const each of refused) {
        const commit = store.commit({ partitions: [good, each], facts: [] })
        assert.strictEqual((yield* Effect.flip(commit)).code, "too-large")
      }
      assert.deepStrictEqual(yield* store.size, [])
    })
  )
})
