import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import fc from "fast-check"
import { chunkPartsOf, offsetsOf } from "./file-range.ts"

const chunksOf = (lengths: ReadonlyArray<number>) =>
  lengths.map((length, at) => ({ fileId: 1, chunkId: at, version: 1, length, checksum: 0 }))
const sumOf = (lengths: ReadonlyArray<number>): number => lengths.reduce((sum, one) => sum + one, 0)

describe("ranges of files", () => {
  it("the parts of chunks are what a slice of the whole file is", () => {
    const lengths = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 6 })
    fc.assert(
      fc.property(lengths, fc.nat(60), fc.nat(60), (sizes, from, length) => {
        const bytes = sumOf(sizes)
        const whole = Array.from({ length: bytes }, (_, at) => at)
        const to = from + length
        const offsets = offsetsOf({ name: "a", bytes }, { from, to })
        if (Result.isFailure(offsets)) return assert.isTrue(from >= bytes)
        const read = chunkPartsOf(chunksOf(sizes), offsets.success).flatMap((part) => {
          const before = sumOf(sizes.slice(0, part.chunk.chunkId))
          return whole.slice(before, before + part.chunk.length).slice(part.start, part.end)
        })
        assert.deepStrictEqual(read, whole.slice(from, to + 1))
      })
    )
  })

  it.each([
    [{}, 0, 10],
    [{ from: 3 }, 3, 10],
    [{ to: 3 }, 0, 4],
    [{ from: 9, to: 9 }, 9, 10],
    [{ from: 2, to: 99 }, 2, 10]
  ])("%j of ten bytes", (range, start, end) => {
    assert.deepStrictEqual(
      offsetsOf({ name: "a", bytes: 10 }, range),
      Result.succeed({ start, end })
    )
  })

  it.each([
    [{ from: 10 }, 10, "bytes 0 to 9; it has no bytes from 10"],
    [{ from: 4, to: 3 }, 10, "no bytes 4 to 3"],
    [{ from: -1 }, 10, "no bytes from -1"],
    [{ from: 0, to: 0 }, 0, "is empty"]
  ])("%j of %i bytes is refused", (range, bytes, words) => {
    const refused = offsetsOf({ name: "a", bytes }, range)
    assert.isTrue(Result.isFailure(refused) && refused.failure.message.includes(words))
  })

  it("the whole of an empty file is no bytes, and no error", () => {
    assert.deepStrictEqual(
      offsetsOf({ name: "a", bytes: 0 }, {}),
      Result.succeed({ start: 0, end: 0 })
    )
  })
})
