import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { makePacer, type ReplayPace } from "./replay-pace.ts"

const duesOf = (pace: ReplayPace, timestamps: ReadonlyArray<bigint>): ReadonlyArray<number> => {
  const pacer = makePacer(pace)
  return timestamps.map((timestamp) => pacer.due(timestamp))
}

describe("the pace of a replay", () => {
  it("at a rate puts the same distance between records", () => {
    expect(duesOf({ _tag: "Rate", perSecond: 4 }, [9n, 1n, 7n])).toEqual([0, 250e6, 500e6])
  })

  it("in original timing keeps the distances, by the factor", () => {
    const times = [1_000_000_000n, 1_000_000_500n, 1_000_002_000n]
    expect(duesOf({ _tag: "Original", factor: 1 }, times)).toEqual([0, 500, 2_000])
    expect(duesOf({ _tag: "Original", factor: 4 }, times)).toEqual([0, 125, 500])
  })

  it("never puts a record before the one in front of it, and needs no clock that rises", () => {
    const paces = fc.oneof(
      fc.constant({ _tag: "Fastest" } as const),
      fc.record({
        _tag: fc.constant("Rate" as const),
        perSecond: fc.double({ min: 0.1, max: 1e6, noNaN: true })
      }),
      fc.record({
        _tag: fc.constant("Original" as const),
        factor: fc.double({ min: 0.1, max: 1e3, noNaN: true })
      })
    )
    fc.assert(
      fc.property(paces, fc.array(fc.bigInt({ min: 0n, max: 2n ** 62n })), (pace, times) => {
        const dues = duesOf(pace, times)
        expect(dues).toEqual(dues.toSorted((left, right) => left - right))
        expect(dues[0] ?? 0).toBe(0)
      })
    )
  })

  it("an outage is not made up for by a burst", () => {
    const pacer = makePacer({ _tag: "Rate", perSecond: 10 })
    pacer.due(0n)
    pacer.late(5e9)
    expect(pacer.due(0n)).toBe(4e9 + 1e8)
  })
})
