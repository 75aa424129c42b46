/** What benchmarks of readers share: a full stream, and a bare consumer of the client library. */
import { AckPolicy, DeliverPolicy, jetstream, jetstreamManager } from "@nats-io/jetstream"
import { Effect } from "effect"
import { ensureStream } from "../ensure-stream.ts"
import { type ManagedConnection, openConnection } from "../managed-connection.ts"
import { makeRecordPublisher } from "../record-publisher.ts"
import { startNatsServer } from "./nats-server.ts"

/** The stream of all benchmarks. */
export const stream = "bench"
/** How many records are in it where a benchmark asks for no other number, and the bytes of each. */
export const recordCount = 200_000
const recordBytes = 256
const publishedAtOnce = 20_000
/** Records that are asked for ahead, as a reader does by default. */
const window = 8_192

/** A rate, in records a second. */
export const rateSince = (started: number, count = recordCount): number =>
  count / ((performance.now() - started) / 1000)

/** The figure in the middle. */
export const median = (figures: ReadonlyArray<number>): number =>
  [...figures].sort((left, right) => left - right)[Math.floor(figures.length / 2)] ?? 0

/** A server of its own, and a connection to it, with the stream filled; says how fast that was. */
export const fullStreamOf = Effect.fnUntraced(function* (count: number) {
  const server = yield* Effect.acquireRelease(
    Effect.promise(() => startNatsServer()),
    (started) => Effect.promise(() => started.stop())
  )
  const connection = yield* openConnection({ servers: [server.url], name: "bench" }, "bench")
  yield* ensureStream(connection, { stream, subjects: ["bench.>"] })
  const publisher = yield* makeRecordPublisher(connection, { stream })
  const subject = new TextEncoder().encode("bench.a")
  const data = new Uint8Array(recordBytes).fill(120)
  const started = performance.now()
  for (let sent = 0; sent < count; sent += publishedAtOnce) {
    yield* publisher.publish(
      Array.from({ length: publishedAtOnce }, () => ({ subject, headers: [], data }))
    )
  }
  const published = rateSince(started, count)
  return { connection, published, url: server.url, serverPid: server.pid() }
})

/** The same with the usual number of records. */
export const fullStream = fullStreamOf(recordCount)

/** How a bare consumer acknowledges: not at all, each record, or all up to every so many. */
export type BareMode =
  | { readonly _tag: "None" }
  | { readonly _tag: "Each" }
  | { readonly _tag: "UpTo"; readonly every: number; readonly pendingMax: number }

/** Kept as readers keep theirs: in memory where nothing is acknowledged, else on the disk. */
const policyOf = (mode: BareMode) => {
  switch (mode._tag) {
    case "None":
      return { ack_policy: AckPolicy.None, mem_storage: true }
    case "Each":
      return { ack_policy: AckPolicy.Explicit, max_ack_pending: window }
    case "UpTo":
      return { ack_policy: AckPolicy.All, max_ack_pending: mode.pendingMax }
  }
}

/** Reads the whole stream by the library's own consumer; answers the rate. */
export const readBare = (connection: ManagedConnection, mode: BareMode, total = recordCount) =>
  Effect.promise(async () => {
    const manager = await jetstreamManager(connection.native)
    const { name } = await manager.consumers.add(stream, {
      ...policyOf(mode),
      deliver_policy: DeliverPolicy.All
    })
    const consumer = await jetstream(connection.native).consumers.get(stream, name)
    const started = performance.now()
    let count = 0
    let finish: () => void = () => undefined
    const finished = new Promise<void>((resolve) => {
      finish = resolve
    })
    const isDue = (): boolean => {
      switch (mode._tag) {
        case "None":
          return false
        case "Each":
          return true
        case "UpTo":
          return count % mode.every === 0
      }
    }
    const messages = await consumer.consume({
      max_messages: window,
      callback: (message) => {
        count += message.data.length > 0 ? 1 : 0
        if (isDue()) message.ack()
        if (count === total) finish()
      }
    })
    await finished
    const rate = rateSince(started, total)
    messages.stop()
    await manager.consumers.delete(stream, name)
    return rate
  })
