import { assert, describe, it } from "@effect/vitest"
import { createFile, emptyState } from "@holdfast/chunk-map"
import { Journal } from "@holdfast/storage"
import { Effect, Fiber, Latch, Result, Stream } from "effect"
import { startEngine, type Work } from "./engine.ts"
import { resolveOptions } from "./options.ts"
import { refused } from "./refusals.ts"
import { quickOptions } from "./testing/world.ts"

const file: Work<number> = (draft) =>
  createFile(draft, { requestId: null }).pipe(
    Result.mapError(refused),
    Result.map(({ fileId }) => fileId)
  )

/** An engine whose journal takes nothing while the latch is closed. */
const heldEngine = Effect.gen(function* () {
  const latch = Latch.makeUnsafe(false)
  const options = resolveOptions(quickOptions)
  const engine = yield* startEngine(options, emptyState(options.map)).pipe(
    Effect.provideService(Journal, {
      recover: Effect.succeed({ snapshot: Stream.empty, entries: Stream.empty, cutEntries: 0 }),
      append: () => latch.await,
      compact: () => Effect.void,
      size: Effect.succeed({ entries: 0, bytes: 0 })
    })
  )
  return { engine, latch }
})

describe("the engine", () => {
  it.live("answers who has waited long enough, in its turn or behind it, and nobody twice", () =>
    Effect.gen(function* () {
      const { engine, latch } = yield* heldEngine
      const patient = yield* Effect.forkChild(engine.submit(file), { startImmediately: true })
      const inTurn = yield* Effect.forkChild(Effect.flip(engine.submit(file, { waitMs: 20 })), {
        startImmediately: true
      })
      yield* Effect.sleep("30 millis")
      const behind = yield* Effect.flip(engine.submit(file, { waitMs: 20 }))
      assert.deepStrictEqual(
        [(yield* Fiber.join(inTurn)).code, behind.code],
        ["timeout", "timeout"]
      )
      latch.openUnsafe()
      assert.strictEqual(yield* Fiber.join(patient), 1)
      assert.isAbove(yield* engine.submit(file), 1)
    })
  )

  it.live("forgets a command whose sender was interrupted, and answers the others", () =>
    Effect.gen(function* () {
      const { engine, latch } = yield* heldEngine
      const gone = yield* Effect.forkChild(engine.submit(file), { startImmediately: true })
      const other = yield* Effect.forkChild(engine.submit(file), { startImmediately: true })
      yield* Fiber.interrupt(gone)
      latch.openUnsafe()
      assert.isAbove(yield* Fiber.join(other), 0)
    })
  )
})
