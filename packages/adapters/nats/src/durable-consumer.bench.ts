/**
 * How fast a reader with a watermark takes records off a stream: acknowledged up to every so many,
 * and confirmed. Against bare consumers of the same client in the same run: one that acknowledges
 * by watermark as often, unconfirmed; one that acknowledges each record; one that does not.
 *
 *     node --conditions=@holdfast/source packages/adapters/nats/src/durable-consumer.bench.ts
 */
import { figuresOf } from "@holdfast/suites/figures"
import { Effect, Option } from "effect"
import type { ManagedConnection } from "./managed-connection.ts"
import { makeNatsRecordSource } from "./nats-record-source.ts"
import {
  fullStream,
  median,
  rateSince,
  readBare,
  recordCount,
  stream
} from "./testing/bench-stream.ts"

const say = figuresOf("JetStream reader with a watermark")
const rounds = 5
const every = 10_000
const pendingMax = 65_536

const reader = Effect.fnUntraced(function* (connection: ManagedConnection) {
  const source = yield* makeNatsRecordSource(connection, {
    shards: Effect.succeed([{ shard: stream, stream, consumer: "watermark" }]),
    ackPendingMax: pendingMax
  })
  const started = performance.now()
  const opened = yield* source.open({ shard: stream, after: Option.none() })
  let count = 0
  let acknowledged = 0
  while (count < recordCount) {
    const batch = yield* opened.next({ maxRecords: 1_000, maxBytes: 1_048_576, wait: "1 second" })
    count += batch.records.length
    const last = batch.records.at(-1)
    if (last === undefined || count - acknowledged < every) continue
    yield* opened.acknowledge(last.position)
    acknowledged = count
  }
  return rateSince(started)
})

const main = Effect.gen(function* () {
  const { connection } = yield* fullStream
  const kinds = [
    {
      what: "bare consumer without acknowledgements, median",
      read: readBare(connection, { _tag: "None" })
    },
    {
      what: "bare consumer, each record acknowledged, median",
      read: readBare(connection, { _tag: "Each" })
    },
    {
      what: "bare consumer, acknowledged up to every 10,000, median",
      read: readBare(connection, { _tag: "UpTo", every, pendingMax })
    },
    {
      what: "reader, acknowledged up to every 10,000 and confirmed, median",
      read: Effect.scoped(reader(connection))
    }
  ]
  const rates = kinds.map((): Array<number> => [])
  for (let round = 0; round < rounds; round += 1) {
    for (const [index, { read }] of kinds.entries()) rates[index]?.push(yield* read)
  }
  for (const [index, { what }] of kinds.entries()) {
    say({ what, value: median(rates[index] ?? []), unit: "records a second" })
  }
  const [free = [], each = [], upTo = [], own = []] = rates
  const against = (others: ReadonlyArray<number>): number =>
    median(own.map((rate, round) => rate / (others[round] ?? rate)))
  say({
    what: "  against the bare consumer with the same acknowledgements",
    value: against(upTo),
    unit: "times",
    bar: { atLeast: 0.9 }
  })
  say({ what: "  against each record acknowledged", value: against(each), unit: "times" })
  say({ what: "  against no acknowledgements", value: against(free), unit: "times" })
})

await Effect.runPromise(Effect.scoped(main))
