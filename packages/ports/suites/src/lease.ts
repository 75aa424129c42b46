/**
 * The contract of the Lease port, as tests that any adapter runs. The numbers in the test names are
 * those of the port's module comment.
 */
import { assert, describe, it } from "@effect/vitest"
import { Lease, type LeaseRecord } from "@holdfast/records"
import type { Scope } from "effect"
import { Context, Effect, Layer, Option } from "effect"

/** One store of claims, which any number of workers open at the same time. */
export interface LeaseStorage {
  /** One worker's connection to this store. */
  readonly layer: Layer.Layer<Lease, unknown>
}

/** How to reach the adapter under test. */
export interface LeaseContract<Storage extends LeaseStorage> {
  readonly name: string
  /** A fresh, empty store for one test. */
  readonly storage: Effect.Effect<Storage, unknown, Scope.Scope>
  /** Makes a shard's claim unreadable. */
  readonly damage?: (storage: Storage, shard: string) => Effect.Effect<void, unknown>
}

/** Runs the Lease contract against an adapter. */
export const describeLeaseContract = <Storage extends LeaseStorage>(
  contract: LeaseContract<Storage>
): void => {
  describe(`Lease contract: ${contract.name}`, () => {
    describeList(contract)
    describeWrites(contract)
  })
}

const claim = (shard: string, owner: string | undefined, beat = 0): LeaseRecord => ({
  shard,
  owner: Option.fromUndefinedOr(owner),
  epoch: 1,
  beat,
  wantedBy: Option.none()
})

const open = (storage: LeaseStorage) =>
  Effect.map(Layer.build(Layer.fresh(storage.layer)), (context) => Context.get(context, Lease))

const shardsOf = (lease: Lease["Service"]) =>
  Effect.map(lease.list, (stored) => stored.map(({ record }) => record.shard).sort())

const describeList = <Storage extends LeaseStorage>(contract: LeaseContract<Storage>): void => {
  it.live("2: a new store lists nothing", () =>
    Effect.gen(function* () {
      const lease = yield* open(yield* contract.storage)
      assert.deepStrictEqual(yield* lease.list, [])
    })
  )

  it.live("2: every claim is listed as it was written, with the revision of its write", () =>
    Effect.gen(function* () {
      const lease = yield* open(yield* contract.storage)
      const records: ReadonlyArray<LeaseRecord> = [
        claim("a", "worker-1"),
        { ...claim("b", undefined, 7), epoch: 12 },
        { ...claim("c", "worker-1", 2 ** 40), wantedBy: Option.some("worker-2") }
      ]
      const written = yield* Effect.forEach(records, (record) =>
        Effect.map(lease.write({ record, expected: Option.none() }), (revision) => ({
          record,
          revision
        }))
      )
      const listed = yield* lease.list
      const inOrder = [...listed].sort((left, right) =>
        left.record.shard < right.record.shard ? -1 : 1
      )
      assert.deepStrictEqual(inOrder, written)
    })
  )

  it.live("2: two hundred claims are listed whole, whatever the shards' names", () =>
    Effect.gen(function* () {
      const lease = yield* open(yield* contract.storage)
      const odd = ["a.b", "a/b", "a b", "A", "ä€", "*", ">", "..", "x".repeat(255)]
      const shards = [...odd, ...Array.from({ length: 191 }, (_, index) => `shard-${index}`)]
      yield* Effect.forEach(
        shards,
        (shard) => lease.write({ record: claim(shard, "worker-1"), expected: Option.none() }),
        { concurrency: 16 }
      )
      assert.deepStrictEqual(yield* shardsOf(lease), [...shards].sort())
    })
  )

  const { damage } = contract
  if (damage !== undefined) {
    it.live("2: a claim that cannot be read is corrupt, it does not vanish from the list", () =>
      Effect.gen(function* () {
        const storage = yield* contract.storage
        const lease = yield* open(storage)
        yield* lease.write({ record: claim("a", "worker-1"), expected: Option.none() })
        yield* damage(storage, "a")
        const error = yield* Effect.flip(lease.list)
        assert.strictEqual(error.code, "corrupt")
      })
    )
  }
}

const describeWrites = <Storage extends LeaseStorage>(contract: LeaseContract<Storage>): void => {
  it.live("1: a write over a revision that is not the stored one conflicts, nothing changes", () =>
    Effect.gen(function* () {
      const lease = yield* open(yield* contract.storage)
      const write = (beat: number, expected: Option.Option<bigint>) =>
        lease.write({ record: claim("a", "worker-1", beat), expected })
      const early = yield* Effect.flip(write(9, Option.some(1n)))
      assert.strictEqual(early._tag, "LeaseConflict")
      const first = yield* write(1, Option.none())
      const second = yield* write(2, Option.some(first))
      assert.isTrue(first < second)
      for (const stale of [Option.some(first), Option.none(), Option.some(second + 1n)]) {
        const error = yield* Effect.flip(write(9, stale))
        assert.strictEqual(error._tag, "LeaseConflict")
      }
      const listed = yield* lease.list
      assert.deepStrictEqual(listed, [{ record: claim("a", "worker-1", 2), revision: second }])
    })
  )

  it.live("1: of many workers that claim a shard at once exactly one succeeds", () =>
    Effect.gen(function* () {
      const storage = yield* contract.storage
      const workers = ["worker-1", "worker-2", "worker-3", "worker-4"]
      const connections = yield* Effect.forEach(workers, () => open(storage))
      for (const shard of ["a", "b", "c"]) {
        const claims = connections.map((lease, index) =>
          Effect.result(
            lease.write({ record: claim(shard, workers[index]), expected: Option.none() })
          )
        )
        const results = yield* Effect.all(claims, { concurrency: "unbounded" })
        const winners = workers.filter((_, index) => results[index]?._tag === "Success")
        assert.strictEqual(winners.length, 1)
        for (const lease of connections) {
          const listed = yield* lease.list
          const found = listed.find(({ record }) => record.shard === shard)
          assert.deepStrictEqual(found?.record.owner, Option.fromUndefinedOr(winners[0]))
        }
      }
    })
  )

  it.live("1: a listed revision lets the next write in, by whoever read it", () =>
    Effect.gen(function* () {
      const storage = yield* contract.storage
      const owner = yield* open(storage)
      const other = yield* open(storage)
      yield* owner.write({ record: claim("a", "worker-1"), expected: Option.none() })
      const [seen] = yield* other.list
      assert.isDefined(seen)
      if (seen === undefined) return
      const taken = { ...claim("a", "worker-2"), epoch: 2 }
      yield* other.write({ record: taken, expected: Option.some(seen.revision) })
      const late = owner.write({
        record: claim("a", "worker-1", 1),
        expected: Option.some(seen.revision)
      })
      assert.strictEqual((yield* Effect.flip(late))._tag, "LeaseConflict")
      const [kept] = yield* owner.list
      assert.deepStrictEqual(kept?.record, taken)
    })
  )
}
