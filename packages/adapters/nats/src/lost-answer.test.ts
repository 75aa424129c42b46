import { assert, describe, it } from "@effect/vitest"
import { Effect, Option, Result } from "effect"
import type { JetStreamFailureKind } from "./jetstream-call.ts"
import { confirmWrite } from "./lost-answer.ts"

const value = Uint8Array.of(1, 2)
const entry = (revision: bigint, stored: Uint8Array) =>
  Option.some({ key: "k", value: stored, revision })
const fails = (kind: JetStreamFailureKind) => Effect.fail({ kind, message: kind })

describe("a write", () => {
  for (const [what, write, found, expected] of [
    ["that is answered", Effect.succeed(7n), Option.none(), 7n],
    ["that conflicts", fails("conflict"), entry(8n, value), "conflict"],
    ["whose answer is lost, stored", fails("unavailable"), entry(8n, value), 8n],
    ["whose answer is lost, not stored", fails("unavailable"), Option.none(), "unavailable"],
    ["whose answer is lost, older", fails("unavailable"), entry(5n, value), "unavailable"],
    ["overtaken", fails("unavailable"), entry(9n, Uint8Array.of(1, 3)), "unavailable"]
  ] as const) {
    it.effect(`${what}: ${expected}`, () =>
      Effect.gen(function* () {
        const look = Effect.succeed(found)
        const result = yield* Effect.result(confirmWrite({ write, look, replaced: 5n, value }))
        assert.strictEqual(
          Result.isSuccess(result) ? result.success : result.failure.kind,
          expected
        )
      })
    )
  }
})
