import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { digestAdd, digestEquals, digestRemove, emptyDigest, type Digest } from "./digest.ts"

const copy = fc.tuple(
  fc.integer({ min: 1, max: 2 ** 48 - 1 }),
  fc.integer({ min: 0, max: 2 ** 32 - 1 }),
  fc.integer({ min: 1, max: 2 ** 48 - 1 })
)
const digest = (copies: ReadonlyArray<[number, number, number]>): Digest =>
  copies.reduce((sum, [file, chunk, version]) => digestAdd(sum, file, chunk, version), emptyDigest)

describe("digest of a device", () => {
  it("does not depend on the order, and removal undoes addition", () => {
    fc.assert(
      fc.property(fc.array(copy, { maxLength: 30 }), copy, (copies, one) => {
        expect(digest([...copies].reverse())).toEqual(digest(copies))
        const added = digestAdd(digest(copies), ...one)
        expect(digestRemove(added, ...one)).toEqual(digest(copies))
        expect(digestEquals(added, digest(copies))).toBe(false)
      })
    )
  })

  it("tells neighbouring ids, chunks and versions apart, also beyond 32 bits", () => {
    const names: Array<[number, number, number]> = []
    for (const file of [1, 2, 2 ** 32 + 1]) {
      for (const chunk of [0, 1])
        for (const version of [1, 2, 2 ** 32 + 1]) names.push([file, chunk, version])
    }
    const seen = new Set(names.map((name) => JSON.stringify(digest([name]))))
    expect(seen.size).toBe(names.length)
  })

  it("stays what it is: other processes compute it too", () => {
    expect(
      digest([
        [1, 0, 1],
        [2 ** 40 + 5, 7, 2 ** 33 + 9]
      ])
    ).toMatchInlineSnapshot(`
      {
        "count": 2,
        "high": 1952435562,
        "low": 238014964,
      }
    `)
  })
})
