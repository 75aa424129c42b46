import { assert, describe, it } from "@effect/vitest"
import { Messaging } from "@holdfast/messaging"
import { Context, Effect, Layer, Schema } from "effect"
import { MicroInfo, MicroPing, microService, MicroStatsAnswer } from "./micro-service.ts"
import { natsMessagingLayer } from "./nats-messaging.ts"
import { useNatsServer } from "./testing/server-layer.ts"

const { connections } = useNatsServer()
const layer = natsMessagingLayer().pipe(Layer.provide(connections()))

const ask = Effect.fnUntraced(function* (subject: string) {
  const messaging = yield* Messaging
  const reply = yield* messaging.request({
    subject,
    data: new Uint8Array(0),
    deadline: "5 seconds"
  })
  return new TextDecoder().decode(reply.data)
})

describe("a service of the micro protocol", () => {
  it.live("answers PING, INFO and STATS under each of its three subjects", () =>
    Effect.gen(function* () {
      const context = yield* Layer.build(Layer.fresh(layer))
      yield* Effect.gen(function* () {
        yield* microService({
          name: "peer",
          id: "peer-1",
          version: "0.1.0",
          description: "keeps partitions",
          metadata: { cluster: "demo" },
          endpoints: [
            { name: "search", subject: "holdfast.demo.peer.search", queueGroup: "peer" },
            { name: "merge", subject: "holdfast.demo.peer.peer-1.merge" }
          ],
          stats: Effect.succeed([
            { name: "search", requests: 4, errors: 1, lastError: "late", processingNanos: 1_000 }
          ])
        })
        for (const suffix of ["", ".peer", ".peer.peer-1"]) {
          const ping = yield* ask(`$SRV.PING${suffix}`)
          const decoded = Schema.decodeUnknownSync(Schema.fromJsonString(MicroPing))(ping)
          assert.deepStrictEqual(decoded, {
            type: "io.nats.micro.v1.ping_response",
            name: "peer",
            id: "peer-1",
            version: "0.1.0",
            metadata: { cluster: "demo" }
          })
          const info = Schema.decodeUnknownSync(Schema.fromJsonString(MicroInfo))(
            yield* ask(`$SRV.INFO${suffix}`)
          )
          assert.deepStrictEqual(
            info.endpoints.map(({ name, queue_group }) => [name, queue_group]),
            [
              ["search", "peer"],
              ["merge", undefined]
            ]
          )
          const stats = Schema.decodeUnknownSync(Schema.fromJsonString(MicroStatsAnswer))(
            yield* ask(`$SRV.STATS${suffix}`)
          )
          assert.deepStrictEqual(
            stats.endpoints.map((each) => [each.num_requests, each.average_processing_time]),
            [
              [4, 250],
              [0, 0]
            ]
          )
          assert.match(stats.started, /^\d{4}-\d\d-\d\dT/)
        }
      }).pipe(Effect.provideContext(Context.pick(Messaging)(context)))
    })
  )
})
