/** A fresh stream with its own subjects, a publisher to it, readers of it, and how tests read. */
import { jetstreamManager } from "@nats-io/jetstream"
import type { Gap, ShardReader, SourceRecord } from "@holdfast/records"
import { Effect, Option, type Scope } from "effect"
import { randomUUID } from "node:crypto"
import { ensureStream } from "../ensure-stream.ts"
import { type ManagedConnection, openConnection } from "../managed-connection.ts"
import { makeNatsRecordSource, type NatsRecordSourceOptions } from "../nats-record-source.ts"
import { makeRecordPublisher, type OutgoingRecord } from "../record-publisher.ts"
import type { NatsShard } from "../stream-facts.ts"
import type { NatsServer } from "./nats-server.ts"
import { quickOptions } from "./server-layer.ts"

/** Text as bytes. */
export const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)

/** Bytes as text. */
export const text = (data: Uint8Array): string => new TextDecoder().decode(data)

/** A record of text. */
export const record = (subject: string, data: string, messageId?: string): OutgoingRecord => ({
  subject: bytes(subject),
  headers: [],
  data: bytes(data),
  ...(messageId === undefined ? {} : { messageId })
})

/** Records whose data are consecutive numbers. */
export const numbered = (subject: string, count: number, from = 1) =>
  Array.from({ length: count }, (_, index) => record(subject, String(from + index)))

/** A stream under test. */
export interface StreamBench {
  readonly stream: string
  readonly connection: ManagedConnection
  readonly publish: (records: ReadonlyArray<OutgoingRecord>) => Effect.Effect<void, unknown>
  readonly open: (
    after?: bigint,
    options?: Partial<NatsRecordSourceOptions> & Pick<NatsShard, "consumer" | "filterSubject">
  ) => Effect.Effect<ShardReader, unknown, Scope.Scope>
}

/** Makes a stream on a server that runs. */
export const makeStreamBench = (server: () => NatsServer) =>
  Effect.gen(function* () {
    const connection = yield* openConnection({ ...quickOptions, servers: [server().url] }, "test")
    const stream = `s${randomUUID().slice(0, 8)}`
    yield* ensureStream(connection, { stream, subjects: [`${stream}.>`] })
    const publisher = yield* makeRecordPublisher(connection, { stream })
    const bench: StreamBench = {
      stream,
      connection,
      publish: (records) => Effect.asVoid(publisher.publish(records)),
      open: (after, { consumer, filterSubject, ...options } = {}) =>
        Effect.flatMap(
          makeNatsRecordSource(connection, {
            shards: Effect.succeed([
              {
                shard: "shard",
                stream,
                ...(filterSubject === undefined ? {} : { filterSubject }),
                ...(consumer === undefined ? {} : { consumer })
              }
            ]),
            heartbeat: "200 millis",
            ...options
          }),
          (source) => source.open({ shard: "shard", after: Option.fromUndefinedOr(after) })
        )
    }
    return bench
  })

/** Bounds of one `next` that suit most tests. */
export const bounds = { maxRecords: 1_000, maxBytes: 1_000_000, wait: "100 millis" } as const

/** Reads until a number of records has come, for 20 seconds at most; gaps go into the array. */
export const readRecords = (reader: ShardReader, count: number, gaps: Array<Gap> = []) =>
  Effect.gen(function* () {
    const records: Array<SourceRecord> = []
    while (records.length < count) {
      const batch = yield* reader.next(bounds)
      records.push(...batch.records)
      gaps.push(...batch.gaps)
    }
    return records
  }).pipe(Effect.timeout("20 seconds"))

/** The numbers of a range, both ends included. */
export const numbers = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index)

/** The positions of records. */
export const positions = (records: ReadonlyArray<SourceRecord>) =>
  records.map((each) => Number(each.position))

/** The client library's own management of JetStream. */
export const manage = (connection: ManagedConnection) =>
  Effect.promise(() => jetstreamManager(connection.native))
