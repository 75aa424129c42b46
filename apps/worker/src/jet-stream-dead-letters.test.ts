import { assert, describe, it } from "@effect/vitest"
import { MemoryNetwork } from "@holdfast/adapter-memory"
import { NatsConnections } from "@holdfast/adapter-nats"
import { ArchiveClient, clientLayer } from "@holdfast/client"
import { type DeadLetter, DeadLetters } from "@holdfast/service-worker"
import { jetstreamManager } from "@nats-io/jetstream"
import { Effect, Layer } from "effect"
import { useNatsServer } from "../../../packages/adapters/nats/src/testing/server-layer.ts"
import {
  fakeClusterLayer,
  makeFakeCluster
} from "../../../packages/client/src/testing/fake-cluster.ts"
import { jetStreamArchiveLetters } from "./jet-stream-dead-letters.ts"

const { connections } = useNatsServer()
const text = (value: string) => new TextEncoder().encode(value)

const letterOf = (shard: string, position: number): DeadLetter => ({
  id: `${shard}@${position}`,
  shard,
  record: {
    position: BigInt(position),
    timestamp: 1n,
    subject: text("orders.eu"),
    headers: [[text("Nats-Rollup"), text("all")]],
    data: text(`data of ${position}`)
  },
  attempts: 3,
  reason: "no\nroom"
})

/** Archives on a cluster in memory, dead letters on a real server. */
const world = Layer.unwrap(
  Effect.gen(function* () {
    const cluster = makeFakeCluster(3)
    const network = yield* MemoryNetwork.make({ maxPayloadBytes: 1_048_576 })
    const services = fakeClusterLayer(cluster).pipe(
      Layer.provide(MemoryNetwork.layer(network, "services"))
    )
    const clients = clientLayer({ cluster: cluster.name }).pipe(
      Layer.provide(services),
      Layer.provide(MemoryNetwork.layer(network, "client"))
    )
    return jetStreamArchiveLetters.pipe(Layer.provideMerge(Layer.mergeAll(connections(), clients)))
  })
)

describe("dead letters in JetStream", () => {
  it.live("stand in the stream that their archive names, once each, with what happened", () =>
    Effect.gen(function* () {
      const archives = yield* ArchiveClient
      const letters = yield* DeadLetters
      const settings = { onError: "dead-letter", deadLetter: "DEAD" } as const
      for (const name of ["a", "b"]) yield* archives.add({ name, stream: "ORDERS", settings })
      const all = [1, 2, 3, 1, 2].flatMap((at) => [letterOf("a", at), letterOf("b", at)])
      yield* Effect.forEach(all, (letter) => letters.put(letter), { concurrency: 4 })
      const { bulk } = yield* NatsConnections
      const manager = yield* Effect.promise(() => jetstreamManager(bulk.native))
      const { state } = yield* Effect.promise(() => manager.streams.info("DEAD"))
      assert.strictEqual(state.messages, 6)
      const found = yield* Effect.promise(() =>
        manager.streams.getMessage("DEAD", { last_by_subj: "DEAD.orders.eu" })
      )
      const headers = found?.header
      assert.strictEqual(headers?.get("Holdfast-Reason"), "no room")
      assert.strictEqual(headers?.get("Holdfast-Attempts"), "3")
      assert.strictEqual(headers?.get("Holdfast-Original-Nats-Rollup"), "all")
      assert.match(found?.string() ?? "", /^data of \d$/)
    }).pipe(Effect.provide(world))
  )

  it.live("of an archive that names no stream are not taken in", () =>
    Effect.gen(function* () {
      const archives = yield* ArchiveClient
      const letters = yield* DeadLetters
      yield* archives.add({ name: "c", stream: "ORDERS" })
      const error = yield* Effect.flip(letters.put(letterOf("c", 1)))
      assert.include(error.message, "names no stream for dead letters")
    }).pipe(Effect.provide(world))
  )
})
