import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Scope, Stream } from "effect"
import {
  chunkNamed,
  eventually,
  formatOn,
  makeCluster,
  patterned,
  read,
  target
} from "./testing/cluster-fixture.ts"

const chunk = chunkNamed(7)
const bytes = patterned(40_000)

describe("a stop in the middle of a write", () => {
  it.live("metadata-B68: the write ends whole or not at all, and says which", () =>
    Effect.gen(function* () {
      const cluster = yield* makeCluster
      const machine = yield* cluster.machine("h1")
      yield* formatOn(machine.devices, "d1")
      const scope = yield* Scope.make()
      const server = yield* cluster.start(machine, ["d1"]).pipe(Scope.provide(scope))
      yield* eventually(() => cluster.metadata.reports.has("d1"))
      const begun = yield* Deferred.make<void>()
      const rest = yield* Deferred.make<void>()
      const data = Stream.concat(
        Stream.fromEffect(Effect.as(Deferred.succeed(begun, undefined), bytes.subarray(0, 10_000))),
        Stream.fromEffect(Effect.as(Deferred.await(rest), bytes.subarray(10_000)))
      )
      const writing = yield* Effect.forkChild(
        cluster.transport.write({
          chunk,
          length: bytes.length,
          targets: [target({ name: "h1", server }, "d1", chunk, "write")],
          data,
          deadline: "10 seconds"
        })
      )
      yield* Deferred.await(begun)
      const stopping = yield* Effect.forkChild(Scope.close(scope, Exit.void))
      yield* Effect.sleep("50 millis")
      yield* Deferred.succeed(rest, undefined)
      const [outcome] = yield* Fiber.join(writing)
      yield* Fiber.join(stopping)
      const again = yield* cluster.start(machine, ["d1"], { incarnation: 2 })
      const serves = ({
        devices,
        incarnation
      }: {
        devices: ReadonlyArray<unknown>
        incarnation: number
      }) => incarnation === 2 && devices.length > 0
      yield* eventually(() => cluster.metadata.heartbeats.some(serves))
      const source = target({ name: "h1", server: again }, "d1", chunk, "read")
      const found = yield* Effect.result(read(cluster, chunk, source))
      if (found._tag === "Success") assert.deepStrictEqual(found.success, bytes)
      else {
        assert.strictEqual(found.failure.code, "not-found")
        assert.notStrictEqual(outcome?._tag, "Stored")
      }
    })
  )
})
