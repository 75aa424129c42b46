import { assert, describe, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import { parseBounds } from "./bounds.ts"

const parse = (from: string, to?: string) =>
  parseBounds({ from: Option.some(from), to: Option.fromUndefinedOr(to) })

describe("bounds", () => {
  it.effect("digits are positions, of any size", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* parse("0", "99999999999999999999"), {
        from: 0n,
        to: 99_999_999_999_999_999_999n
      })
    })
  )

  it.effect("ISO 8601 is a time, to the nanosecond", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* parse("2026-01-01T00:00:00.123456789Z"), {
        timeFrom: 1_767_225_600_123_456_789n
      })
      assert.deepStrictEqual(yield* parse("5", "2026-01-01"), {
        from: 5n,
        timeTo: 1_767_225_600_000_000_000n
      })
    })
  )

  it.effect.each(["yesterday", "-1", "2026-13-01", "1e9", ""])("%s is refused", (text) =>
    Effect.gen(function* () {
      const { message } = yield* Effect.flip(parse(text))
      assert.include(message, "right would be")
    })
  )
})
