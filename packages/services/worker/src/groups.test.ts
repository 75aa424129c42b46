import { memoryLease } from "@holdfast/adapter-memory"
import { assert, describe, it } from "@effect/vitest"
import { Lease } from "@holdfast/records"
import { Effect, Option } from "effect"
import { makeWorld, pass } from "./testing/world.ts"

/** A worker of another group, as its claims show it: it renews them for ever. */
const keepClaims = Effect.fnUntraced(function* (shards: ReadonlyArray<string>) {
  const lease = yield* Lease
  const revisions = new Map<string, bigint>()
  const renew = (beat: number) =>
    Effect.forEach(shards, (shard) =>
      lease
        .write({
          record: { shard, owner: Option.some("w9"), epoch: 1, beat, wantedBy: Option.none() },
          expected: Option.fromUndefinedOr(revisions.get(shard))
        })
        .pipe(Effect.map((revision) => revisions.set(shard, revision)))
    )
  for (let beat = 0; ; beat++) {
    yield* renew(beat)
    yield* Effect.sleep(500)
  }
})

describe("workers of several groups that share a store", () => {
  it.effect.each([
    { group: "", shards: ["a", "b"], others: ["lines:a", "lines:b", "sums:a"] },
    { group: "lines", shards: ["lines:a", "lines:b"], others: ["a", "b", "liness:a"] }
  ])("share their own shards alone, and show all claims (group '$group')", (one) =>
    Effect.gen(function* () {
      const { group, others, shards } = one
      const world = yield* makeWorld
      for (const shard of shards) yield* world.append(shard, 1)
      yield* Effect.forkChild(Effect.provide(keepClaims(others), memoryLease(world.keyValue)))
      yield* pass(100)
      const { worker } = yield* world.start("w1", { plan: { isPrompt: true }, config: { group } })
      yield* pass(8_000)
      const { leases, shards: held } = yield* worker.status
      assert.deepStrictEqual(held.map(({ shard }) => shard).toSorted(), shards)
      assert.deepStrictEqual(
        leases.map(({ shard }) => shard).toSorted(),
        [...shards, ...others].toSorted()
      )
      for (const shard of others) {
        assert.deepStrictEqual((yield* world.lease(shard))?.wantedBy, Option.none())
      }
    })
  )
})
