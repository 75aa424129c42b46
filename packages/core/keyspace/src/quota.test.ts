import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { KEY_SPACE_SIZE } from "./index.ts"
import { quotas } from "./quota.ts"

const K = KEY_SPACE_SIZE
const sum = (shares: ReadonlyArray<bigint>): bigint => shares.reduce((a, b) => a + b, 0n)

describe("quotas", () => {
  const cases: ReadonlyArray<
    readonly [weights: ReadonlyArray<bigint>, factor: number, shares: ReadonlyArray<bigint>]
  > = [
    [[], 3, []],
    [[7n], 3, [K]],
    [[1n, 9n], 3, [K, K]],
    [[1n, 1n, 1n, 1n], 2, [K / 2n, K / 2n, K / 2n, K / 2n]],
    [[1n, 1n, 2n], 1, [K / 4n, K / 4n, K / 2n]],
    [[100n, 1n, 1n], 2, [K, K / 2n, K / 2n]],
    [[100n, 50n, 1n, 1n], 3, [K, K, K / 2n, K / 2n]]
  ]
  for (const [weights, factor, shares] of cases) {
    it(`shares ${factor} copies among weights ${weights.join(", ") || "of nobody"}`, () => {
      expect(quotas(weights, factor)).toEqual(shares)
    })
  }

  it("add up to the copies, and nobody holds a key twice", () => {
    fc.assert(
      fc.property(
        fc.array(fc.bigInt({ min: 1n, max: 1000n }), { maxLength: 20 }),
        fc.integer({ min: 1, max: 15 }),
        (weights, factor) => {
          const shares = quotas(weights, factor)
          expect(sum(shares)).toBe(BigInt(Math.min(factor, weights.length)) * K)
          expect(shares.every((share) => share >= 0n && share <= K)).toBe(true)
        }
      )
    )
  })
})
