import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { digestOf, formatDigest, mixEventId, newHasher, parseDigest } from "./digest.ts"
import { makeParticipant } from "./index.ts"
import { dropFirst, push, sequenceOf, toArray } from "./sequence.ts"
import { structurallyEqual } from "./structural-equality.ts"

it("a sequence behaves as a list, on every version of it", () => {
  const step = fc.record({ from: fc.nat(), drop: fc.nat({ max: 90 }), isPush: fc.boolean() })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const versions = [{ sequence: sequenceOf<number>([]), model: [] as ReadonlyArray<number> }]
      for (const [index, { drop, from, isPush }] of steps.entries()) {
        const near = Math.max(0, versions.length - 1 - (from % 3))
        const { model, sequence } = versions[near]!
        versions.push(
          isPush || drop > model.length
            ? { sequence: push(sequence, index), model: [...model, index] }
            : { sequence: dropFirst(sequence, drop), model: model.slice(drop) }
        )
      }
      for (const { model, sequence } of versions) expect(toArray(sequence)).toEqual(model)
    })
  )
})

describe("structural equality", () => {
  it.each([
    [{ a: [1, { b: 2n }] }, { a: [1, { b: 2n }] }, true],
    [{ a: 1 }, { a: 1, b: undefined }, false],
    [{ a: 1, b: 2 }, { b: 2, a: 1 }, true],
    [new Uint8Array([1, 2]), new Uint8Array([1, 2]), true],
    [new Uint8Array([1, 2]), new Uint8Array([1, 3]), false],
    [new Map([["k", [1]]]), new Map([["k", [1]]]), true],
    [new Map([["k", 1]]), new Set(["k"]), false],
    [[], {}, false],
    [null, {}, false],
    [Number.NaN, Number.NaN, true]
  ])("%o and %o: %s", (left, right, expected) => {
    expect(structurallyEqual(left, right)).toBe(expected)
    expect(structurallyEqual(right, left)).toBe(expected)
  })
})

it("digests of 100,000 ids differ, and read back as written", () => {
  const seen = new Set<string>()
  const hasher = newHasher()
  const issuers = ["a", "b", "peer-1"].map((name) => makeParticipant(name))
  for (let ordinal = 1; ordinal <= 100_000; ordinal += 1) {
    mixEventId(hasher, { ordinal, issuer: issuers[ordinal % 3]! })
    const digest = digestOf(hasher)
    const text = formatDigest(digest)
    if (ordinal % 1000 === 0) expect(parseDigest(text)).toEqual(digest)
    seen.add(text)
  }
  expect(seen.size).toBe(100_000)
})
