import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { makeWorld, pass } from "./testing/world.ts"

const hourly = { checkpointIntervalMs: 3_600_000 }

describe("what a source is told", () => {
  it.effect("is told again until it is heard, on an idle stream, too", () =>
    Effect.gen(function* () {
      const { append, position, start, streams } = yield* makeWorld
      yield* append("orders", 3)
      const { opened } = yield* start("w1")
      yield* pass(1_500)
      yield* streams.apply({ _tag: "Unavailable", count: 1_000 })
      opened[0]?.done(1, 2, 3)
      yield* pass(2_000)
      assert.strictEqual(yield* position("orders"), 3n)
      assert.strictEqual(yield* streams.acknowledged("orders"), 0n)
      yield* streams.apply({ _tag: "Unavailable", count: 0 })
      yield* pass(2_000)
      assert.strictEqual(yield* streams.acknowledged("orders"), 3n)
    })
  )

  it.effect("is also told of a checkpoint whose answer was lost", () =>
    Effect.gen(function* () {
      const { append, keyValue, position, start, streams } = yield* makeWorld
      yield* append("orders", 3)
      const { opened } = yield* start("w1", { config: hourly })
      yield* pass(1_500)
      opened[0]?.done(1, 2, 3)
      yield* keyValue.apply({ _tag: "LoseAnswers", count: 1 })
      // The first is written and not answered; the second finds that out.
      for (let save = 0; save < 2; save += 1) {
        opened[0]?.options.requestCheckpoint()
        yield* pass(50)
      }
      assert.strictEqual(yield* position("orders"), 3n)
      assert.strictEqual(yield* streams.acknowledged("orders"), 3n)
    })
  )

  it.effect("is never ahead of the checkpoint in the store", () =>
    Effect.gen(function* () {
      const { append, keyValue, position, start, streams } = yield* makeWorld
      yield* append("orders", 3)
      const { opened } = yield* start("w1")
      yield* pass(1_500)
      yield* keyValue.apply({ _tag: "Unavailable", count: 2 })
      opened[0]?.done(1, 2)
      yield* pass(1_000)
      assert.isUndefined(yield* position("orders"))
      assert.strictEqual(yield* streams.acknowledged("orders"), 0n)
      yield* pass(2_500)
      assert.strictEqual(yield* position("orders"), 2n)
      assert.strictEqual(yield* streams.acknowledged("orders"), 2n)
    })
  )
})
