/** The PartitionStore contract's orders: partitions by key, index records by (tag, key). */
import { assert, it } from "@effect/vitest"
import type { KeyRange, PartitionStore, TagRecord } from "@holdfast/storage"
import { Effect, Option } from "effect"
import type { PartitionStorage, PartitionStoreContract } from "./partition-store-contract.ts"
import { bytes, keyOf, partition, withStore } from "./partitions.ts"

const everyKey: ReadonlyArray<KeyRange> = [["0".repeat(64), "f".repeat(64)]]
const decoder = new TextDecoder()

const lastDigits = (key: string): string => key.replace(/^0+(?=.)/, "")

const show = ({ tag, key }: TagRecord): string => `${decoder.decode(tag)} ${lastDigits(key)}`

const page = (
  store: PartitionStore["Service"],
  options: {
    readonly after?: TagRecord
    readonly upTo?: string
    readonly ranges?: ReadonlyArray<KeyRange>
    readonly limit?: number
  } = {}
) =>
  store.page({
    application: "archive",
    after: Option.fromUndefinedOr(options.after),
    upTo: Option.map(Option.fromUndefinedOr(options.upTo), bytes),
    ranges: options.ranges ?? everyKey,
    limit: options.limit ?? 100
  })

const scan = (
  store: PartitionStore["Service"],
  options: {
    readonly after?: string
    readonly ranges?: ReadonlyArray<KeyRange>
    readonly limit?: number
  } = {}
) =>
  Effect.map(
    store.scan({
      application: "archive",
      after: Option.map(Option.fromUndefinedOr(options.after), keyOf),
      ranges: options.ranges ?? everyKey,
      limit: options.limit ?? 100
    }),
    (found) => found.map(({ key }) => lastDigits(key))
  )

/** Promises 2 and 3. */
export const describePartitionOrder = <Storage extends PartitionStorage>(
  contract: PartitionStoreContract<Storage>
): void => {
  describeScan(contract)
  describePage(contract)
  describeTags(contract)
}

const describeScan = <Storage extends PartitionStorage>(
  contract: PartitionStoreContract<Storage>
): void => {
  it.live("3: `scan` walks one application in key order, from after a key, up to a limit", () =>
    Effect.gen(function* () {
      const storage = yield* contract.storage
      const keys = ["5", "a", "1", "ff", "10", "3"]
      yield* withStore(storage, (store) =>
        store.commit({
          partitions: [
            ...keys.map((digits) => partition(digits, "x")),
            { ...partition("2", "x"), application: "arch" },
            { ...partition("4", "x"), application: "archives" }
          ],
          facts: [{ name: "archive", value: bytes("x") }]
        })
      )
      yield* withStore(storage, (store) =>
        Effect.gen(function* () {
          assert.deepStrictEqual(yield* scan(store), ["1", "3", "5", "a", "10", "ff"])
          assert.deepStrictEqual(yield* scan(store, { limit: 2 }), ["1", "3"])
          assert.deepStrictEqual(yield* scan(store, { after: "3", limit: 2 }), ["5", "a"])
          assert.deepStrictEqual(yield* scan(store, { after: "4" }), ["5", "a", "10", "ff"])
          assert.deepStrictEqual(yield* scan(store, { after: "ff" }), [])
        })
      )
    })
  )

  it.live("3: `scan` stays inside the ranges, both ends included; no range, no partition", () =>
    Effect.gen(function* () {
      const storage = yield* contract.storage
      yield* withStore(storage, (store) =>
        Effect.gen(function* () {
          const partitions = ["1", "2", "3", "4", "5", "6"].map((each) => partition(each, "x"))
          yield* store.commit({ partitions, facts: [] })
          const ranges: ReadonlyArray<KeyRange> = [
            [keyOf("2"), keyOf("3")],
            [keyOf("5"), keyOf("5")]
          ]
          assert.deepStrictEqual(yield* scan(store, { ranges }), ["2", "3", "5"])
          assert.deepStrictEqual(yield* scan(store, { ranges, limit: 2 }), ["2", "3"])
          assert.deepStrictEqual(yield* scan(store, { ranges, after: "3" }), ["5"])
          assert.deepStrictEqual(yield* scan(store, { ranges: [] }), [])
        })
      )
    })
  )
}

const describePage = <Storage extends PartitionStorage>(
  contract: PartitionStoreContract<Storage>
): void => {
  it.live("3: `page` walks (tag, key) bytewise; a shorter tag comes before its extensions", () =>
    Effect.gen(function* () {
      const storage = yield* contract.storage
      yield* withStore(storage, (store) =>
        Effect.gen(function* () {
          const binary = {
            ...partition("4", "x"),
            tags: [Uint8Array.of(0), Uint8Array.of(0, 0), Uint8Array.of(), Uint8Array.of(255, 0)]
          }
          const partitions = [
            partition("2", "x", ["b", "a"]),
            partition("1", "x", ["b", "aa"]),
            { ...partition("3", "x", ["a"]), application: "other" },
            binary
          ]
          yield* store.commit({ partitions, facts: [] })
          const all = yield* page(store)
          const shown = all.map(({ tag, key }) => `${Array.from(tag).join()}:${lastDigits(key)}`)
          const expected = [":4", "0:4", "0,0:4", "97:2", "97,97:1", "98:1", "98:2", "255,0:4"]
          assert.deepStrictEqual(shown, expected)
        })
      )
    })
  )

  it.live("3: pages that follow one another give every record once, whatever their size", () =>
    Effect.gen(function* () {
      const storage = yield* contract.storage
      yield* withStore(storage, (store) =>
        Effect.gen(function* () {
          const partitions = ["1", "2", "3", "4"].map((each) => partition(each, "x", ["a", "b"]))
          yield* store.commit({ partitions, facts: [] })
          const whole = yield* page(store)
          assert.strictEqual(whole.length, 8)
          for (const limit of [1, 3, 5]) {
            const walked: Array<TagRecord> = []
            for (;;) {
              const after = walked.at(-1)
              const next = yield* page(store, after === undefined ? { limit } : { limit, after })
              if (next.length === 0) break
              assert.isAtMost(next.length, limit)
              walked.push(...next)
            }
            assert.deepStrictEqual(walked.map(show), whole.map(show))
          }
        })
      )
    })
  )

  it.live("3: `page` stops at `upTo`, stays inside the ranges, and starts after what is gone", () =>
    Effect.gen(function* () {
      const storage = yield* contract.storage
      yield* withStore(storage, (store) =>
        Effect.gen(function* () {
          const partitions = ["1", "2", "3"].map((each) => partition(each, "x", ["a", "b", "c"]))
          yield* store.commit({ partitions, facts: [] })
          const shown = (options: Parameters<typeof page>[1]) =>
            Effect.map(page(store, options), (found) => found.map(show))
          const ranges: ReadonlyArray<KeyRange> = [
            [keyOf("0"), keyOf("1")],
            [keyOf("3"), keyOf("9")]
          ]
          assert.deepStrictEqual(yield* shown({ upTo: "a" }), ["a 1", "a 2", "a 3"])
          assert.deepStrictEqual(yield* shown({ upTo: "bb", ranges }), ["a 1", "a 3", "b 1", "b 3"])
          const after = { tag: bytes("ab"), key: keyOf("9") }
          assert.deepStrictEqual(yield* shown({ after, ranges, limit: 3 }), ["b 1", "b 3", "c 1"])
          assert.deepStrictEqual(yield* shown({ ranges: [] }), [])
        })
      )
    })
  )
}

const describeTags = <Storage extends PartitionStorage>(
  contract: PartitionStoreContract<Storage>
): void => {
  it.live("2: a write replaces all the partition's tags; forgetting it removes them", () =>
    Effect.gen(function* () {
      const storage = yield* contract.storage
      yield* withStore(storage, (store) =>
        Effect.gen(function* () {
          const first = [partition("1", "x", ["a", "b"]), partition("2", "x", ["a", "a"])]
          yield* store.commit({ partitions: first, facts: [] })
          yield* store.commit({ partitions: [partition("1", "y", ["b", "c"])], facts: [] })
          assert.deepStrictEqual((yield* page(store)).map(show), ["a 2", "b 1", "c 1"])
          yield* store.commit({ partitions: [partition("1", undefined, ["b"])], facts: [] })
          assert.deepStrictEqual((yield* page(store)).map(show), ["a 2"])
        })
      )
      const kept = yield* withStore(storage, (store) => page(store))
      assert.deepStrictEqual(kept.map(show), ["a 2"])
    })
  )

  it.live("2: of two writes of one partition in a commit the later one decides", () =>
    Effect.gen(function* () {
      const storage = yield* contract.storage
      yield* withStore(storage, (store) =>
        Effect.gen(function* () {
          const partitions = [partition("1", "x", ["a"]), partition("1", "y", ["b"])]
          yield* store.commit({ partitions, facts: [] })
          assert.deepStrictEqual((yield* page(store)).map(show), ["b 1"])
          assert.deepStrictEqual(yield* scan(store), ["1"])
        })
      )
    })
  )

  it.live("2: a tag of 512 bytes is kept whole", () =>
    Effect.gen(function* () {
      const storage = yield* contract.storage
      const tag = Uint8Array.from({ length: 512 }, (_, index) => index % 256)
      const longer = { ...partition("1", "x"), tags: [tag, tag.subarray(0, 511)] }
      yield* withStore(storage, (store) => store.commit({ partitions: [longer], facts: [] }))
      const found = yield* withStore(storage, (store) => page(store))
      assert.deepStrictEqual(
        found.map((record) => record.tag.length),
        [511, 512]
      )
      assert.deepStrictEqual(Array.from(found[1]?.tag ?? []), Array.from(tag))
    })
  )
}
