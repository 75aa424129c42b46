import { NatsConnections, natsRecordSourceLayer } from "@holdfast/adapter-nats"
import { RecordSource } from "@holdfast/records"
import { Effect, Option } from "effect"

const records = natsRecordSourceLayer({
  shards: Effect.succeed([{ shard: "orders", stream: "ORDERS" }])
})

/** The first records of the stream ORDERS at a server. */
export const firstOrders = (url: string) =>
  Effect.gen(function* () {
    const source = yield* RecordSource
    const reader = yield* source.open({ shard: "orders", after: Option.none() })
    const batch = yield* reader.next({ maxRecords: 100, maxBytes: 1_048_576, wait: "1 second" })
    return batch.records.map(({ position, data }) => ({
      position,
      text: new TextDecoder().decode(data)
    }))
  }).pipe(
    Effect.scoped,
    Effect.provide(records),
    Effect.provide(NatsConnections.layer({ servers: [url], name: "example" }))
  )
