/**
 * How fast a reader takes records off a stream, against a bare consumer of the same client in the
 * same run, and how fast the publisher fills one.
 *
 *     node --conditions=@holdfast/source packages/adapters/nats/src/nats-record-source.bench.ts
 */
import { figuresOf } from "@holdfast/suites/figures"
import { AckPolicy, DeliverPolicy, jetstream, jetstreamManager } from "@nats-io/jetstream"
import { Effect, Option } from "effect"
import { ensureStream } from "./ensure-stream.ts"
import { type ManagedConnection, openConnection } from "./managed-connection.ts"
import { makeNatsRecordSource } from "./nats-record-source.ts"
import { makeRecordPublisher } from "./record-publisher.ts"
import { startNatsServer } from "./testing/nats-server.ts"

const say = figuresOf("JetStream reader")
const recordCount = 200_000
const recordBytes = 256
const rounds = 5
const stream = "bench"

const fill = Effect.fnUntraced(function* (connection: ManagedConnection) {
  const publisher = yield* makeRecordPublisher(connection, { stream })
  const subject = new TextEncoder().encode("bench.a")
  const data = new Uint8Array(recordBytes).fill(120)
  const started = performance.now()
  for (let sent = 0; sent < recordCount; sent += 20_000) {
    yield* publisher.publish(Array.from({ length: 20_000 }, () => ({ subject, headers: [], data })))
  }
  return recordCount / ((performance.now() - started) / 1000)
})

const bare = (connection: ManagedConnection) =>
  Effect.promise(async () => {
    const manager = await jetstreamManager(connection.native)
    const { name } = await manager.consumers.add(stream, {
      ack_policy: AckPolicy.None,
      deliver_policy: DeliverPolicy.All,
      mem_storage: true
    })
    const consumer = await jetstream(connection.native).consumers.get(stream, name)
    const started = performance.now()
    let count = 0
    let finish: () => void = () => undefined
    const finished = new Promise<void>((resolve) => {
      finish = resolve
    })
    const messages = await consumer.consume({
      max_messages: 8_192,
      callback: (message) => {
        count += message.data.length > 0 ? 1 : 0
        if (count === recordCount) finish()
      }
    })
    await finished
    messages.stop()
    return recordCount / ((performance.now() - started) / 1000)
  })

const reader = Effect.fnUntraced(function* (connection: ManagedConnection) {
  const source = yield* makeNatsRecordSource(connection, {
    shards: Effect.succeed([{ shard: stream, stream }])
  })
  const started = performance.now()
  const opened = yield* source.open({ shard: stream, after: Option.none() })
  let count = 0
  while (count < recordCount) {
    const batch = yield* opened.next({ maxRecords: 1_000, maxBytes: 1_048_576, wait: "1 second" })
    count += batch.records.length
  }
  return recordCount / ((performance.now() - started) / 1000)
})

const median = (figures: ReadonlyArray<number>): number =>
  [...figures].sort((left, right) => left - right)[Math.floor(figures.length / 2)] ?? 0

const main = Effect.gen(function* () {
  const server = yield* Effect.acquireRelease(
    Effect.promise(() => startNatsServer()),
    (started) => Effect.promise(() => started.stop())
  )
  const connection = yield* openConnection({ servers: [server.url], name: "bench" }, "bench")
  yield* ensureStream(connection, { stream, subjects: ["bench.>"] })
  const published = yield* fill(connection)
  say({ what: "publish, window 512, 256 bytes", value: published, unit: "records a second" })
  const bareFigures: Array<number> = []
  const readerFigures: Array<number> = []
  for (let round = 0; round < rounds; round += 1) {
    bareFigures.push(yield* bare(connection))
    readerFigures.push(yield* Effect.scoped(reader(connection)))
  }
  const ratios = readerFigures.map((figure, round) => figure / (bareFigures[round] ?? figure))
  say({
    what: "bare consumer without acknowledgements, median",
    value: median(bareFigures),
    unit: "records a second"
  })
  say({ what: "reader, median", value: median(readerFigures), unit: "records a second" })
  say({
    what: "  against the bare consumer, median of the rounds",
    value: median(ratios),
    unit: "times",
    bar: { atLeast: 0.9 }
  })
})

await Effect.runPromise(Effect.scoped(main))
