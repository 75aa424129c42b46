/**
 * How fast a reader takes records off a stream, against a bare consumer of the same client in the
 * same run, and how fast the publisher fills one.
 *
 *     node --conditions=@holdfast/source packages/adapters/nats/src/nats-record-source.bench.ts
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

const say = figuresOf("JetStream reader")
const rounds = 5

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
  return rateSince(started)
})

const main = Effect.gen(function* () {
  const { connection, published } = yield* fullStream
  say({ what: "publish, window 512, 256 bytes", value: published, unit: "records a second" })
  const bareFigures: Array<number> = []
  const readerFigures: Array<number> = []
  for (let round = 0; round < rounds; round += 1) {
    bareFigures.push(yield* readBare(connection, { _tag: "None" }))
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
