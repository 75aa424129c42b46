import { assert, describe, it } from "@effect/vitest"
import { type Ordinal, statusOf } from "@holdfast/disposition"
import { Effect, Layer } from "effect"
import { type OpenShard, Pipeline, type Resume } from "./pipeline.ts"
import { makeWorld, pass } from "./testing/world.ts"

/** A pipeline that is let go on by hand, and notes what it hears of checkpoints. */
const makeListening = () => {
  const ordinals: Array<Ordinal> = []
  const saved: Array<Resume> = []
  const opened: { shard: OpenShard | undefined } = { shard: undefined }
  const layer = Layer.succeed(Pipeline, {
    open: (options) =>
      Effect.sync(() => {
        opened.shard = options
        return {
          finished: [],
          offer: (batch) => Effect.sync(() => ordinals.push(...batch.map((one) => one.ordinal))),
          heartbeat: () => Effect.void,
          flush: () => Effect.void,
          checkpointed: (one) => void saved.push(one)
        }
      })
  })
  const done = (...numbers: ReadonlyArray<number>) =>
    opened.shard?.report([{ _tag: "Done", ordinals: numbers.map((at) => ordinals[at]!) }])
  return { layer, saved, done, opened }
}

const hourly = { checkpointIntervalMs: 3_600_000 }

describe("a checkpoint that a pipeline asks for", () => {
  it.effect("is written without waiting for the interval, and told once it is confirmed", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld
      yield* world.append("orders", 4)
      const { done, layer, opened, saved } = makeListening()
      yield* world.start("w1", { pipeline: layer, config: hourly })
      yield* pass(1_500)
      done(0, 2)
      yield* pass(1_000)
      assert.isUndefined(yield* world.position("orders"))
      opened.shard?.requestCheckpoint()
      yield* pass(50)
      assert.strictEqual(yield* world.position("orders"), 1n)
      const [heard] = saved
      assert.strictEqual(heard?.after, 1n)
      const statuses = [1n, 2n, 3n, 4n].map((at) => statusOf(heard!.completion, at)._tag)
      assert.deepStrictEqual(statuses, ["Finished", "Unfinished", "Finished", "Unfinished"])
    })
  )

  it.effect("is not written where nothing more is finished", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld
      yield* world.append("orders", 1)
      const { layer, opened, saved } = makeListening()
      yield* world.start("w1", { pipeline: layer, config: hourly })
      yield* pass(1_500)
      opened.shard?.requestCheckpoint()
      yield* pass(1_000)
      assert.deepStrictEqual(saved, [])
    })
  )
})
