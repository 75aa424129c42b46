/** The deadlines of the chunk data path: every wait has one. */
import { assert, it } from "@effect/vitest"
import { Deferred, Effect, Stream } from "effect"
import {
  onPath,
  read,
  type ServerBehaviour,
  startServer,
  write,
  writeStream
} from "./chunk-path.ts"
import type { ChunkTransportContract } from "./chunk-transport-contract.ts"
import { patterned } from "./devices.ts"

const deadline = "200 millis"

/**
 * Starts a server that hangs where the behaviour waits for the gate. Closing a server waits for its
 * transfers, so the gate opens before that when the test ends.
 */
const startHanging = (behaviour: (gate: Effect.Effect<void>) => ServerBehaviour) =>
  Effect.gen(function* () {
    const gate = yield* Deferred.make<void>()
    const server = yield* startServer("d1", behaviour(Deferred.await(gate)))
    yield* Effect.addFinalizer(() => Deferred.succeed(gate, undefined))
    return server
  })

/** Promise 4. */
export const describeChunkDeadlines = ({ layer }: ChunkTransportContract): void => {
  it.live("4: a server that never asks for bytes costs the deadline, no more", () =>
    Effect.gen(function* () {
      const server = yield* startHanging((gate) => ({ beforeWrite: gate }))
      const outcomes = yield* write([server.target], patterned(10), { deadline })
      assert.deepStrictEqual(outcomes, ["d1 timeout"])
    }).pipe(onPath(layer))
  )

  it.live("4: a server that takes a part and no more costs the deadline", () =>
    Effect.gen(function* () {
      const server = yield* startHanging((gate) => ({ afterPiece: () => gate }))
      const outcomes = yield* write([server.target], patterned(32_000_000), { deadline })
      assert.deepStrictEqual(outcomes, ["d1 timeout"])
    }).pipe(onPath(layer))
  )

  it.live("4: a source that stops giving bytes costs the deadline, and nothing is stored", () =>
    Effect.gen(function* () {
      const server = yield* startServer("d1")
      const data = Stream.concat(Stream.make(patterned(10)), Stream.never)
      const outcomes = yield* writeStream([server.target], data, { length: 1_000, deadline })
      assert.deepStrictEqual(outcomes, ["d1 timeout"])
      assert.strictEqual(server.copies.size, 0)
    }).pipe(onPath(layer))
  )

  it.live("4: a holder that gives a part and no more ends the read with timeout", () =>
    Effect.gen(function* () {
      const server = yield* startHanging((gate) => ({
        data: Stream.concat(Stream.make(patterned(10)), Stream.fromEffectDrain(gate))
      }))
      server.copies.set("d1", patterned(1_000))
      const error = yield* Effect.flip(read(server.target, { deadline }))
      assert.strictEqual(error.code, "timeout")
    }).pipe(onPath(layer))
  )

  it.live("4: a slow transfer that keeps moving outlasts its deadline many times", () =>
    Effect.gen(function* () {
      const server = yield* startServer("d1", { afterPiece: () => Effect.sleep("60 millis") })
      const bytes = patterned(500_000)
      const outcomes = yield* write([server.target], bytes, { deadline: "400 millis" })
      assert.deepStrictEqual(outcomes, ["d1 stored 500000"])
    }).pipe(onPath(layer))
  )
}
