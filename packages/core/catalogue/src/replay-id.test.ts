import fc from "fast-check"
import { createHash } from "node:crypto"
import { describe, expect, it } from "vitest"
import {
  readReplayId,
  type Replay,
  replayId,
  replayOf,
  type ReplaySelection,
  replayShardOf
} from "./index.ts"

const platform = {
  sha256: (bytes: Uint8Array) => new Uint8Array(createHash("sha256").update(bytes).digest()),
  encodeText: (text: string) => new TextEncoder().encode(text)
}
const archive = { name: "orders", fileId: 7 }
const name = fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/)
const shard = fc.string({ minLength: 1, maxLength: 60, unit: "grapheme" })
const place = fc.record({
  shard,
  position: fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }),
  part: fc.nat(4_294_967_295)
})

describe("the id of a replayed record", () => {
  it("is read back as what it was made of, in one line of ASCII", () => {
    fc.assert(
      fc.property(name, fc.nat(), place, (called, fileId, wanted) => {
        const replay = replayOf({ name: called, fileId }, {}, platform)
        const id = replayId(replay, wanted)
        expect(id).toMatch(/^[\x21-\x7e]{1,1024}$/)
        expect(readReplayId(replay, id)).toEqual(wanted)
      })
    )
  })

  it("leaves out the shard where it is called as its archive", () => {
    const replay = replayOf(archive, {}, platform)
    const id = replayId(replay, { shard: "orders", position: 17n, part: 0 })
    expect(id).toBe(`holdfast.orders.${replay.digest}.17`)
    expect(readReplayId(replay, id)).toEqual({ shard: "orders", position: 17n, part: 0 })
  })

  it("shares with those of its shard what it shares with no others", () => {
    const replay = replayOf(archive, {}, platform)
    const other = replayOf(archive, { from: 1n }, platform)
    const shardOf = (of: Replay, named: string, position: bigint) =>
      replayShardOf(replayId(of, { shard: named, position, part: Number(position % 3n) }))
    expect(shardOf(replay, "a.b", 1n)).toBe(shardOf(replay, "a.b", 99n))
    const keys = [
      shardOf(replay, "a.b", 1n),
      shardOf(replay, "a", 1n),
      shardOf(replay, "orders", 1n),
      shardOf(other, "orders", 1n)
    ]
    expect(new Set(keys).size).toBe(keys.length)
    expect(replayShardOf("m-17")).toBeUndefined()
  })

  it("is no other replay's: of another life, another archive, another selection", () => {
    const selections: ReadonlyArray<ReplaySelection> = [
      {},
      { from: 1n },
      { from: 2n },
      { timeFrom: 1n },
      { timeTo: 1n },
      { shard: "1" },
      { tag: { name: "a", value: "b" } },
      { tag: { name: "", value: "ab" } },
      { tag: { name: "ab", value: "" } }
    ]
    const replays = [
      ...selections.map((selection) => replayOf(archive, selection, platform)),
      replayOf({ ...archive, fileId: 8 }, {}, platform),
      replayOf({ ...archive, name: "order" }, {}, platform)
    ]
    expect(new Set(replays.map(({ digest }) => digest)).size).toBe(replays.length)
    const [first, ...others] = replays
    if (first === undefined) throw new Error("no replay")
    const id = replayId(first, { shard: "s", position: 1n, part: 2 })
    for (const other of others) expect(readReplayId(other, id)).toBeUndefined()
  })

  it.each(["", "m-17", "holdfast.orders.17", "holdfast.orders.0011223344556677.x", "holdfast.."])(
    "is not %j",
    (text) => {
      expect(readReplayId({ archive: "orders", digest: "0011223344556677" }, text)).toBeUndefined()
      const broken = "holdfast.orders.0011223344556677.1.%ff"
      expect(
        readReplayId({ archive: "orders", digest: "0011223344556677" }, broken)
      ).toBeUndefined()
    }
  )
})
