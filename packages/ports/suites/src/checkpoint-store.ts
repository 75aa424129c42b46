/**
 * The contract of the CheckpointStore port, as tests that any adapter runs. The numbers in the test
 * names are those of the port's module comment.
 */
import { assert, describe, it } from "@effect/vitest"
import { type Checkpoint, CheckpointStore } from "@holdfast/records"
import type { Scope } from "effect"
import { Context, Effect, Layer, Option } from "effect"

/** One store's storage, which can be opened any number of times. */
export interface CheckpointStorage {
  /** Opens the store on this storage. */
  readonly layer: Layer.Layer<CheckpointStore, unknown>
}

/** How to reach the adapter under test, and how to harm its storage. */
export interface CheckpointStoreContract<Storage extends CheckpointStorage> {
  readonly name: string
  /** Fresh, empty storage for one test. */
  readonly storage: Effect.Effect<Storage, unknown, Scope.Scope>
  /** Makes a shard's stored checkpoint unreadable. The store is closed. */
  readonly damage?: (storage: Storage, shard: string) => Effect.Effect<void, unknown>
  /** A completion map that is too long for the store. */
  readonly completionMapTooLong?: number
}

/** Runs the CheckpointStore contract against an adapter. */
export const describeCheckpointStoreContract = <Storage extends CheckpointStorage>(
  contract: CheckpointStoreContract<Storage>
): void => {
  describe(`CheckpointStore contract: ${contract.name}`, () => {
    describeSaves(contract)
    describeConflicts(contract)
    describeRefusals(contract)
  })
}

const checkpoint = (position: bigint, owner = "worker-1"): Checkpoint => ({
  position: Option.some(position),
  completionMap: Uint8Array.of(0, 255, 10),
  epoch: 3,
  owner
})

const withStore = <A, E>(
  storage: CheckpointStorage,
  use: (store: CheckpointStore["Service"]) => Effect.Effect<A, E, Scope.Scope>
) =>
  Effect.scoped(
    Effect.flatMap(Layer.build(Layer.fresh(storage.layer)), (context) =>
      use(Context.get(context, CheckpointStore))
    )
  )

const positionOf = (store: CheckpointStore["Service"], shard: string) =>
  Effect.map(store.load(shard), (found) =>
    Option.getOrUndefined(Option.flatMap(found, (stored) => stored.checkpoint.position))
  )

const describeSaves = <Storage extends CheckpointStorage>(
  contract: CheckpointStoreContract<Storage>
): void => {
  it.live("a shard without a checkpoint loads as none", () =>
    Effect.gen(function* () {
      const storage = yield* contract.storage
      const found = yield* withStore(storage, (store) => store.load("orders"))
      assert.isTrue(Option.isNone(found))
    })
  )

  const checkpoints: ReadonlyArray<readonly [string, Checkpoint]> = [
    ["a usual one", checkpoint(42n)],
    ["none finished", { ...checkpoint(0n), position: Option.none(), owner: "" }],
    ["an empty map at epoch 0", { ...checkpoint(0n), completionMap: new Uint8Array(), epoch: 0 }],
    ["a position of 128 bits", checkpoint(2n ** 128n - 1n)],
    ["a map of 64 KiB", { ...checkpoint(1n), completionMap: new Uint8Array(65_536).fill(7) }]
  ]
  for (const [what, value] of checkpoints) {
    it.live(`2: ${what} is the same after a reopen`, () =>
      Effect.gen(function* () {
        const storage = yield* contract.storage
        const revision = yield* withStore(storage, (store) =>
          store.save({ shard: "orders", checkpoint: value, expected: Option.none() })
        )
        const found = yield* withStore(storage, (store) => store.load("orders"))
        assert.deepStrictEqual(found, Option.some({ checkpoint: value, revision }))
      })
    )
  }

  it.live("3: the revisions of a shard strictly increase, also over a reopen", () =>
    Effect.gen(function* () {
      const storage = yield* contract.storage
      const save = (expected: Option.Option<bigint>) =>
        withStore(storage, (store) =>
          store.save({ shard: "orders", checkpoint: checkpoint(1n), expected })
        )
      const first = yield* save(Option.none())
      const second = yield* save(Option.some(first))
      const third = yield* save(Option.some(second))
      assert.isTrue(first < second && second < third, `${first}, ${second}, ${third}`)
    })
  )

  it.live("shards are apart, whatever their names", () =>
    Effect.gen(function* () {
      const storage = yield* contract.storage
      const shards = ["a", "a.b", "a/b", "a b", "A", "ä€", "*", ">", "..", "x".repeat(255)]
      yield* withStore(storage, (store) =>
        Effect.forEach(shards, (shard, index) =>
          store.save({ shard, checkpoint: checkpoint(BigInt(index)), expected: Option.none() })
        )
      )
      const positions = yield* withStore(storage, (store) =>
        Effect.forEach(shards, (shard) => positionOf(store, shard))
      )
      assert.deepStrictEqual(
        positions,
        shards.map((_, index) => BigInt(index))
      )
    })
  )
}

const describeConflicts = <Storage extends CheckpointStorage>(
  contract: CheckpointStoreContract<Storage>
): void => {
  it.live("1: a save over a revision that is not the stored one conflicts, nothing changes", () =>
    Effect.gen(function* () {
      const storage = yield* contract.storage
      yield* withStore(storage, (store) =>
        Effect.gen(function* () {
          const shard = "orders"
          const save = (position: bigint, expected: Option.Option<bigint>) =>
            store.save({ shard, checkpoint: checkpoint(position), expected })
          const first = yield* save(1n, Option.none())
          const second = yield* save(2n, Option.some(first))
          for (const stale of [Option.some(first), Option.none(), Option.some(second + 1n)]) {
            const error = yield* Effect.flip(save(9n, stale))
            assert.strictEqual(error._tag, "CheckpointConflict")
            assert.strictEqual(error.shard, shard)
          }
          assert.strictEqual(yield* positionOf(store, shard), 2n)
          yield* save(3n, Option.some(second))
        })
      )
    })
  )

  it.live("1: a first save that expects a revision conflicts", () =>
    Effect.gen(function* () {
      const storage = yield* contract.storage
      yield* withStore(storage, (store) =>
        Effect.gen(function* () {
          const save = { shard: "orders", checkpoint: checkpoint(1n), expected: Option.some(1n) }
          const error = yield* Effect.flip(store.save(save))
          assert.strictEqual(error._tag, "CheckpointConflict")
          assert.isTrue(Option.isNone(yield* store.load("orders")))
        })
      )
    })
  )

  it.live("1: of many saves over the same revision at once exactly one succeeds", () =>
    Effect.gen(function* () {
      const storage = yield* contract.storage
      yield* withStore(storage, (store) =>
        Effect.gen(function* () {
          let expected = Option.none<bigint>()
          for (const round of [1, 2, 3]) {
            const saves = Array.from({ length: 8 }, (_, index) =>
              Effect.result(
                store.save({
                  shard: "orders",
                  checkpoint: checkpoint(BigInt(10 * round + index)),
                  expected
                })
              )
            )
            const results = yield* Effect.all(saves, { concurrency: "unbounded" })
            const winners = results.flatMap((result, index) =>
              result._tag === "Success" ? [{ index, revision: result.success }] : []
            )
            assert.strictEqual(winners.length, 1)
            const [winner] = winners
            if (winner === undefined) return
            const position = BigInt(10 * round + winner.index)
            assert.strictEqual(yield* positionOf(store, "orders"), position)
            expected = Option.some(winner.revision)
          }
        })
      )
    })
  )
}

const describeRefusals = <Storage extends CheckpointStorage>(
  contract: CheckpointStoreContract<Storage>
): void => {
  const { damage, completionMapTooLong } = contract
  if (damage !== undefined) {
    it.live("a checkpoint that cannot be read is corrupt, not none; other shards load", () =>
      Effect.gen(function* () {
        const storage = yield* contract.storage
        yield* withStore(storage, (store) =>
          Effect.forEach(["orders", "other"], (shard) =>
            store.save({ shard, checkpoint: checkpoint(5n), expected: Option.none() })
          )
        )
        yield* damage(storage, "orders")
        yield* withStore(storage, (store) =>
          Effect.gen(function* () {
            const error = yield* Effect.flip(store.load("orders"))
            assert.deepStrictEqual([error.code, error.shard], ["corrupt", "orders"])
            assert.strictEqual(yield* positionOf(store, "other"), 5n)
          })
        )
      })
    )
  }

  if (completionMapTooLong !== undefined) {
    it.live("a completion map over the limit is too-large and changes nothing", () =>
      Effect.gen(function* () {
        const storage = yield* contract.storage
        yield* withStore(storage, (store) =>
          Effect.gen(function* () {
            const long = { ...checkpoint(1n), completionMap: new Uint8Array(completionMapTooLong) }
            const save = { shard: "orders", checkpoint: long, expected: Option.none() }
            const error = yield* Effect.flip(store.save(save))
            assert.strictEqual("code" in error ? error.code : error._tag, "too-large")
            assert.isTrue(Option.isNone(yield* store.load("orders")))
          })
        )
      })
    )
  }
}
