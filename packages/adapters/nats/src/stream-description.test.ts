import { assert, describe, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import { beginStreamAt, describeStream, lastOfStream, restoreStream } from "./stream-description.ts"
import { useNatsServer } from "./testing/server-layer.ts"
import { makeStreamBench, manage, numbered, record } from "./testing/stream-bench.ts"

const { server } = useNatsServer()

describe("a described stream", () => {
  it.live("is made again as it was, once; without what ties it to others", () =>
    Effect.gen(function* () {
      const { stream, connection, publish } = yield* makeStreamBench(server)
      yield* publish(numbered(`${stream}.a`, 3))
      const manager = yield* manage(connection)
      yield* Effect.promise(() =>
        manager.streams.update(stream, { max_msgs_per_subject: 77, description: "kept" })
      )
      const found = Option.getOrThrow(yield* describeStream(connection, { stream }))
      assert.deepStrictEqual([found.first, found.last, found.records], [1n, 3n, 3])
      assert.deepStrictEqual(found.subjects, [`${stream}.>`])
      const { configuration } = found
      assert.isFalse(yield* restoreStream(connection, { configuration }))
      yield* Effect.promise(() => manager.streams.delete(stream))
      assert.isTrue(Option.isNone(yield* describeStream(connection, { stream })))
      const sealed = JSON.stringify({ ...JSON.parse(configuration), sealed: true })
      assert.isTrue(yield* restoreStream(connection, { configuration: sealed }))
      const again = Option.getOrThrow(yield* describeStream(connection, { stream }))
      assert.deepStrictEqual(JSON.parse(again.configuration), JSON.parse(configuration))
      assert.strictEqual(again.last, 0n)
    })
  )

  it.live("that is empty can begin at any position", () =>
    Effect.gen(function* () {
      const { stream, connection, publish } = yield* makeStreamBench(server)
      assert.isTrue(Option.isNone(yield* lastOfStream(connection, { stream })))
      yield* beginStreamAt(connection, { stream, first: 1_001n })
      yield* publish([...numbered(`${stream}.a`, 2), record(`${stream}.a`, "x", "id-3")])
      const last = Option.getOrThrow(yield* lastOfStream(connection, { stream }))
      assert.deepStrictEqual(last, { position: 1_003n, messageId: "id-3" })
    })
  )

  for (const configuration of ["{", "[]", "{}", '{"name":7}']) {
    it.live(`of ${configuration} is refused as invalid`, () =>
      Effect.gen(function* () {
        const { connection } = yield* makeStreamBench(server)
        const error = yield* Effect.flip(restoreStream(connection, { configuration }))
        assert.strictEqual(error.code, "invalid")
      })
    )
  }
})
