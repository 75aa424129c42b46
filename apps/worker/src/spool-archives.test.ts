import { assert, describe, it } from "@effect/vitest"
import { commonFloor } from "./spool-archives.ts"

const shards = [
  { shard: "a", stream: "orders" },
  { shard: "b", stream: "orders" },
  { shard: "c", stream: "other" }
]
const floorOf = (stream: string, floors: ReadonlyArray<readonly [string, bigint]>) =>
  commonFloor({ floors: new Map(floors), stream, shards })

describe("what a spool may forget", () => {
  it("is what every archive of the stream has acknowledged", () => {
    assert.strictEqual(
      floorOf("orders", [
        ["a", 9n],
        ["b", 4n],
        ["c", 1n]
      ]),
      4n
    )
    assert.strictEqual(floorOf("other", [["c", 1n]]), 1n)
  })

  it("is nothing while one archive has not spoken, or none reads the stream", () => {
    assert.isUndefined(floorOf("orders", [["a", 9n]]))
    assert.isUndefined(floorOf("unknown", [["a", 9n]]))
  })
})
