import { assert, describe, it } from "@effect/vitest"
import { WorkerId } from "@holdfast/wire"
import { renderShards, shardsOf } from "./shards.ts"

const shard = {
  shard: "orders",
  epoch: 2,
  state: "running" as const,
  inFlight: { records: 4, items: 4, bytes: 400 },
  finishedAboveGap: 0,
  counters: {}
}
const worker = WorkerId.make("w1")

describe("shards", () => {
  it("are those that workers report, and the claims of which nobody reports", () => {
    const leases = [
      { shard: "orders", owner: "w1", epoch: 2, unchangedMs: 10 },
      { shard: "lost", owner: "w9", epoch: 3, unchangedMs: 10 },
      { shard: "free", epoch: 1, unchangedMs: 10 },
      { shard: "resting", epoch: 1, unchangedMs: 10, isPaused: true }
    ]
    const found = shardsOf([{ worker, shards: [{ ...shard, checkpoint: 5n, newest: 9n }], leases }])
    assert.deepStrictEqual(
      found.map((one) => [one.shard, one.owner, one.state, one.lag]),
      [
        ["free", null, "unowned", undefined],
        ["lost", "w9", "silent", undefined],
        ["orders", "w1", "running", 4n],
        ["resting", null, "paused", undefined]
      ]
    )
  })

  it("a table of at most 100 columns, and in full what a shard says of its trouble", () => {
    const name = "a-stream-with-a-long-name.".repeat(8)
    const reason = `position 17 did not go through: ${"the disk is full, ".repeat(10)}`
    const halted = {
      ...shard,
      shard: name,
      state: "halted" as const,
      reason,
      checkpoint: 2n ** 100n,
      read: 2n ** 100n + 5n,
      newest: 2n ** 101n,
      oldestUnfinished: { position: 17n, ageMs: 3_700_000 }
    }
    const [table = "", why] = renderShards(
      shardsOf([{ worker, shards: [halted], leases: [] }])
    ).split("\n\n")
    for (const line of table.split("\n")) assert.isAtMost(line.length, 100)
    assert.include(table, "halted")
    assert.strictEqual(why, `${name} (halted): ${reason}`)
  })
})
