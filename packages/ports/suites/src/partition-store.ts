/**
 * The contract of the PartitionStore port, as tests that any adapter runs. The numbers in the test
 * names are those of the port's module comment.
 */
import { assert, describe, it } from "@effect/vitest"
import type { PartitionStore } from "@holdfast/storage"
import { Effect, Option } from "effect"
import type { PartitionStorage, PartitionStoreContract } from "./partition-store-contract.ts"
import { bytes, keyOf, partition, stateOf, withStore } from "./partitions.ts"
import { describePartitionOrder } from "./partition-order.ts"

/** Runs the PartitionStore contract against an adapter. */
export const describePartitionStoreContract = <Storage extends PartitionStorage>(
  contract: PartitionStoreContract<Storage>
): void => {
  describe(`PartitionStore contract: ${contract.name}`, () => {
    describeCommits(contract)
    describePartitionOrder(contract)
    describeHarm(contract)
  })
}

const fact = (store: PartitionStore["Service"], name: string) =>
  Effect.map(store.fact(name), (value) =>
    Option.getOrElse(
      Option.map(value, (found) => new TextDecoder().decode(found)),
      () => "none"
    )
  )

const describeCommits = <Storage extends PartitionStorage>(
  contract: PartitionStoreContract<Storage>
): void => {
  it.live("a new store holds nothing", () =>
    Effect.gen(function* () {
      const storage = yield* contract.storage
      yield* withStore(storage, (store) =>
        Effect.gen(function* () {
          assert.strictEqual(yield* stateOf(store, "1"), "none")
          assert.strictEqual(yield* fact(store, "identity"), "none")
          assert.deepStrictEqual(yield* store.size, [])
        })
      )
    })
  )

  it.live("1: partitions and facts of one commit are there after a reopen", () =>
    Effect.gen(function* () {
      const storage = yield* contract.storage
      yield* withStore(storage, (store) =>
        store.commit({
          partitions: [partition("1", "one"), partition("2", "")],
          facts: [{ name: "boot", value: bytes("7") }]
        })
      )
      yield* withStore(storage, (store) =>
        Effect.gen(function* () {
          assert.strictEqual(yield* stateOf(store, "1"), "one")
          assert.strictEqual(yield* stateOf(store, "2"), "")
          assert.strictEqual(yield* fact(store, "boot"), "7")
        })
      )
    })
  )

  it.live("1: a later commit replaces or forgets; other partitions stay", () =>
    Effect.gen(function* () {
      const storage = yield* contract.storage
      yield* withStore(storage, (store) =>
        Effect.gen(function* () {
          const first = ["1", "2", "3"].map((digits) => partition(digits, "old"))
          yield* store.commit({ partitions: first, facts: [] })
          const second = [partition("1", "new"), partition("2", undefined)]
          yield* store.commit({ partitions: second, facts: [] })
        })
      )
      const states = yield* withStore(storage, (store) =>
        Effect.forEach(["1", "2", "3"], (digits) => stateOf(store, digits))
      )
      assert.deepStrictEqual(states, ["new", "none", "old"])
    })
  )

  it.live("1: commits issued together all take effect", () =>
    Effect.gen(function* () {
      const storage = yield* contract.storage
      const digits = Array.from({ length: 32 }, (_, n) => n.toString(16))
      yield* withStore(storage, (store) =>
        Effect.forEach(
          digits,
          (each) => store.commit({ partitions: [partition(each, each, [each])], facts: [] }),
          { concurrency: "unbounded" }
        )
      )
      const states = yield* withStore(storage, (store) =>
        Effect.forEach(digits, (each) => stateOf(store, each))
      )
      assert.deepStrictEqual(states, digits)
    })
  )

  it.live("the same key of two applications is two partitions, and `size` counts each", () =>
    Effect.gen(function* () {
      const storage = yield* contract.storage
      yield* withStore(storage, (store) =>
        Effect.gen(function* () {
          const other = { ...partition("1", "theirs"), application: "other" }
          yield* store.commit({
            partitions: [partition("1", "ours"), partition("2", "more"), other],
            facts: []
          })
          assert.strictEqual(yield* stateOf(store, "1"), "ours")
          assert.strictEqual(yield* stateOf(store, "1", "other"), "theirs")
        })
      )
      const sizes = yield* withStore(storage, (store) => store.size)
      const counts = sizes.map(({ application, partitions }) => `${application} ${partitions}`)
      assert.deepStrictEqual(counts.sort(), ["archive 2", "other 1"])
      for (const { bytes: held } of sizes) assert.isAtLeast(held, 6)
    })
  )

  it.live("a loaded state is the caller's own, and the caller may reuse its buffer", () =>
    Effect.gen(function* () {
      const storage = yield* contract.storage
      yield* withStore(storage, (store) =>
        Effect.gen(function* () {
          const write = partition("1", "abc")
          yield* store.commit({ partitions: [write], facts: [] })
          Option.map(write.state, (state) => state.fill(0))
          const found = yield* store.load(write)
          if (Option.isSome(found) && found.value._tag === "Intact") found.value.state.fill(1)
          assert.strictEqual(yield* stateOf(store, "1"), "abc")
        })
      )
    })
  )

  it.live("5: a store that is open cannot be opened again; after it closed it can", () =>
    Effect.gen(function* () {
      const storage = yield* contract.storage
      yield* withStore(storage, () =>
        Effect.gen(function* () {
          const error = yield* Effect.flip(withStore(storage, (store) => store.size))
          assert.strictEqual(error.code, "locked")
        })
      )
      yield* withStore(storage, (store) => store.size)
    })
  )
}

const describeHarm = <Storage extends PartitionStorage>(
  contract: PartitionStoreContract<Storage>
): void => {
  const { damage, room } = contract
  if (damage !== undefined) {
    it.live(
      "4: a damaged partition is named corrupt, the others are served, a write mends it",
      () =>
        Effect.gen(function* () {
          const storage = yield* contract.storage
          const partitions = ["1", "2", "3"].map((digits) => partition(digits, digits.repeat(99)))
          yield* withStore(storage, (store) => store.commit({ partitions, facts: [] }))
          yield* damage(storage, { application: "archive", key: keyOf("2") })
          yield* withStore(storage, (store) =>
            Effect.gen(function* () {
              assert.strictEqual(yield* stateOf(store, "2"), "corrupt")
              const scanned = yield* store.scan({
                application: "archive",
                after: Option.none(),
                ranges: [[keyOf("0"), keyOf("f")]],
                limit: 10
              })
              const tags = scanned.map(({ _tag, key }) => `${_tag} ${key.slice(-1)}`)
              assert.deepStrictEqual(tags, ["Intact 1", "Corrupt 2", "Intact 3"])
              yield* store.commit({ partitions: [partition("2", "mended")], facts: [] })
              assert.strictEqual(yield* stateOf(store, "2"), "mended")
            })
          )
        })
    )
  }

  if (room !== undefined) {
    it.live("1: a commit that does not fit is full and changes nothing", () =>
      Effect.gen(function* () {
        const storage = yield* contract.storage
        yield* withStore(storage, (store) =>
          Effect.gen(function* () {
            yield* store.commit({ partitions: [partition("1", "kept", ["old"])], facts: [] })
            yield* room.take(storage)
            const large = { ...partition("9", ""), state: Option.some(new Uint8Array(8_388_608)) }
            const error = yield* Effect.flip(
              store.commit({
                partitions: [partition("1", "lost", ["new"]), large],
                facts: [{ name: "boot", value: bytes("lost") }]
              })
            )
            assert.strictEqual(error.code, "full")
            yield* room.giveBack(storage)
          })
        )
        yield* withStore(storage, (store) =>
          Effect.gen(function* () {
            assert.strictEqual(yield* stateOf(store, "1"), "kept")
            assert.strictEqual(yield* fact(store, "boot"), "none")
            yield* store.commit({ partitions: [partition("9", "fits")], facts: [] })
            assert.strictEqual(yield* stateOf(store, "9"), "fits")
          })
        )
      })
    )
  }
}
