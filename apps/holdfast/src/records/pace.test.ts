import { assert, describe, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import { parsePace } from "./pace.ts"

const parse = (rate?: number, timing: "fastest" | "original" = "fastest", factor?: number) =>
  parsePace({ rate: Option.fromUndefinedOr(rate), timing, factor: Option.fromUndefinedOr(factor) })

describe("the pace of a replay as it is typed", () => {
  it.effect("is the fastest, a rate, or the original timing", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* parse(), { _tag: "Fastest" })
      assert.deepStrictEqual(yield* parse(0.5), { _tag: "Rate", perSecond: 0.5 })
      assert.deepStrictEqual(yield* parse(undefined, "original"), { _tag: "Original", factor: 1 })
      const faster = yield* parse(undefined, "original", 60)
      assert.deepStrictEqual(faster, { _tag: "Original", factor: 60 })
    })
  )

  it.effect("is refused where flags exclude each other or are out of range", () =>
    Effect.gen(function* () {
      const refused = [
        parse(10, "original"),
        parse(undefined, "fastest", 2),
        parse(0),
        parse(-1),
        parse(undefined, "original", 0)
      ]
      for (const one of refused) {
        const { message } = yield* Effect.flip(one)
        assert.match(message, /^--/)
      }
    })
  )
})
