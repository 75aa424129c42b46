/**
 * Reads one shard of JetStream in order, through whatever happens to server and connection.
 *
 *     sessions (one fiber)                                 the caller
 *     look at the stream ──▶ consumer ──▶ records ──▶ buffer ──▶ next
 *          ▲     lost, silent or out of order │
 *          └──────────── pause ◀──────────────┘   each session starts behind the last record
 *
 * 1. Records come once, in order, and none is passed over but by a gap that says so.
 * 2. Where to start is the caller's checkpoint, so nothing depends on what the server keeps: the
 *    consumer is one that it may forget, or a durable one that shows how far its reader is.
 * 3. A stall of this process ends nothing: silence counts only after several looks in a row.
 * 4. An outage shows as empty batches for `outageGrace`, then as `unavailable` until it is over.
 *    A stream that is deleted, made again or may not be read ends the reader.
 */
import type { JetStreamManager } from "@nats-io/jetstream"
import {
  type RecordBatch,
  RecordSourceError,
  type ShardReader,
  type SourceRecord
} from "@holdfast/records"
import { Clock, Deferred, Duration, Effect, type Scope } from "effect"
import type { DeliveryInfo } from "./delivery-info.ts"
import { callJetStream } from "./jetstream-call.ts"
import type { ManagedConnection } from "./managed-connection.ts"
import { type FetchLimits, openPullSession, type PullSession } from "./pull-session.ts"
import { makePullWire } from "./pull-wire.ts"
import { makeRecordBuffer } from "./record-buffer.ts"
import { makeDurableConsumer } from "./durable-consumer.ts"
import { makeForgottenConsumer } from "./forgotten-consumer.ts"
import type { ReaderConsumer, ReaderSuperseded } from "./reader-consumer.ts"
import { makeShardCursor, type ShardCursor } from "./shard-cursor.ts"
import {
  factsOf,
  type NatsShard,
  readFault,
  type StreamFacts,
  toRecordSourceError
} from "./stream-facts.ts"

/** How a reader fetches and how patient it is. */
export interface ReaderTuning {
  readonly limits: FetchLimits
  readonly heartbeat: Duration.Duration
  readonly outageGrace: Duration.Duration
  /** Of durable consumers: see there. */
  readonly ackWait: Duration.Duration
  readonly ackPendingMax: number
}

/** What a reader works with. */
export interface ReaderOptions {
  readonly connection: ManagedConnection
  readonly manager: JetStreamManager
  /** The subject prefix of the JetStream API. */
  readonly apiPrefix: string
  readonly shard: NatsShard
  /** The position to start behind; undefined to start at the oldest record. */
  readonly after: bigint | undefined
  /** Leave the data of records out. */
  readonly headersOnly?: boolean
  readonly tuning: ReaderTuning
}

const firstPause = Duration.millis(50)
const longestPause = Duration.seconds(2)
const looksBetweenInspections = 5
/** A stream without a leader does not answer at all; asking again soon finds the new one. */
const inspectDeadline = Duration.seconds(2)

interface Reader extends ReaderOptions {
  readonly consumer: ReaderConsumer
  readonly cursor: ShardCursor
  readonly created: string
  readonly buffer: ReturnType<typeof makeRecordBuffer>
  readonly waiters: Set<() => void>
  session: PullSession | undefined
  isWaking: boolean
  /** Records that the current session brought. */
  brought: number
  /** Why nothing more will come, or not now. */
  failure: RecordSourceError | undefined
}

/** Opens a reader; it reads ahead until the scope closes. */
export const openStreamReader = Effect.fnUntraced(function* (
  options: ReaderOptions
): Effect.fn.Return<ShardReader, RecordSourceError, Scope.Scope> {
  const facts = yield* inspect(options, options.after ?? 0n, undefined)
  const after = options.after ?? facts.first - 1n
  const isFiltered = options.shard.filterSubject !== undefined
  const reader: Reader = {
    ...options,
    consumer: consumerOf(options, after),
    cursor: makeShardCursor({ after, isFiltered }),
    created: facts.created,
    buffer: makeRecordBuffer(),
    waiters: new Set(),
    session: undefined,
    isWaking: false,
    brought: 0,
    failure: undefined
  }
  yield* Effect.forkScoped(runSessions(reader))
  return {
    next: (bounds) => takeNext(reader, bounds),
    acknowledge: reader.consumer.acknowledge
  }
})

const consumerOf = (options: ReaderOptions, after: bigint): ReaderConsumer => {
  const { shard, tuning } = options
  const { ackPendingMax, ackWait } = tuning
  return shard.consumer === undefined
    ? makeForgottenConsumer(options)
    : makeDurableConsumer({
        ...options,
        after,
        durable: { name: shard.consumer, ackWait, ackPendingMax }
      })
}

const inspect = (
  options: ReaderOptions,
  after: bigint,
  created: string | undefined
): Effect.Effect<StreamFacts, RecordSourceError> =>
  callJetStream(options.connection, () => options.manager.streams.info(options.shard.stream)).pipe(
    Effect.timeoutOrElse({
      duration: inspectDeadline,
      orElse: () =>
        Effect.fail({ kind: "unavailable", message: "JetStream did not answer in time" } as const)
    }),
    Effect.mapError((failure) => toRecordSourceError(options.shard.stream, failure)),
    Effect.flatMap((info) => {
      const fault = readFault(info, after, created)
      return fault === undefined ? Effect.succeed(factsOf(info)) : Effect.fail(fault)
    })
  )

const takeNext = Effect.fnUntraced(function* (
  reader: Reader,
  bounds: Parameters<ShardReader["next"]>[0]
): Effect.fn.Return<RecordBatch, RecordSourceError> {
  if (reader.buffer.isEmpty()) {
    if (reader.failure === undefined) yield* awaitArrival(reader, bounds.wait)
    if (reader.buffer.isEmpty() && reader.failure !== undefined) return yield* reader.failure
  }
  const taken = reader.buffer.take(bounds)
  reader.session?.refill()
  return { ...taken, newest: reader.cursor.newest(), endOfShard: false }
})

const awaitArrival = (reader: Reader, wait: Duration.Input): Effect.Effect<void> =>
  Effect.callback<void>((resume) => {
    const waiter = (): void => resume(Effect.void)
    reader.waiters.add(waiter)
    return Effect.sync(() => reader.waiters.delete(waiter))
  }).pipe(Effect.timeoutOption(wait), Effect.asVoid)

/** Wakes the callers once what came with this turn of the event loop is all in the buffer. */
const wake = (reader: Reader): void => {
  if (reader.waiters.size === 0 || reader.isWaking) return
  reader.isWaking = true
  setImmediate(() => {
    reader.isWaking = false
    const waiters = [...reader.waiters]
    reader.waiters.clear()
    for (const waiter of waiters) waiter()
  })
}

/** Session after session until one fails in a way that will not pass. */
const runSessions = Effect.fnUntraced(function* (reader: Reader) {
  let pause = firstPause
  let outageSince: bigint | undefined
  for (;;) {
    reader.brought = 0
    const started = yield* Clock.monotonicTimeNanos
    const error = yield* Effect.flip(Effect.scoped(runSession(reader)))
    const isSuperseded = error._tag === "ReaderSuperseded"
    if (isSuperseded || error.code !== "unavailable") {
      const { message } = error
      yield* Effect.logWarning(`the reader of ${reader.shard.shard} ends: ${message}`)
      reader.failure = isSuperseded
        ? new RecordSourceError({ code: "unavailable", message })
        : error
      return wake(reader)
    }
    if (reader.brought > 0) {
      outageSince = undefined
      pause = firstPause
    }
    outageSince ??= started
    const now = yield* Clock.monotonicTimeNanos
    if (now - outageSince > Duration.toNanosUnsafe(reader.tuning.outageGrace)) {
      reader.failure = error
      wake(reader)
    }
    yield* Effect.logDebug(`the reader of ${reader.shard.shard} starts again: ${error.message}`)
    yield* Effect.sleep(pause)
    pause = Duration.min(Duration.times(pause, 2), longestPause)
  }
})

/** One session; it always ends with an error, `unavailable` where another one may do better. */
const runSession = Effect.fnUntraced(function* (
  reader: Reader
): Effect.fn.Return<never, ReaderSuperseded | RecordSourceError, Scope.Scope> {
  const { connection, shard } = reader
  noteFacts(reader, yield* inspect(reader, reader.cursor.position(), reader.created))
  const after = reader.cursor.position()
  const consumer = yield* reader.consumer.acquire(after)
  yield* Effect.forkScoped(reader.consumer.attend)
  const ended = yield* Deferred.make<never, RecordSourceError>()
  const end = (reason: string): void => {
    const failure = { kind: "unavailable", message: reason } as const
    Deferred.doneUnsafe(ended, Effect.fail(toRecordSourceError(shard.stream, failure)))
  }
  yield* Effect.acquireRelease(
    Effect.sync(() => connection.onChange((state) => end(`the connection is ${state}`))),
    (remove) => Effect.sync(remove)
  )
  const session = yield* Effect.acquireRelease(
    Effect.sync(() => {
      reader.session = openPullSession({
        wire: makePullWire(
          connection,
          `${reader.apiPrefix}.CONSUMER.MSG.NEXT.${shard.stream}.${consumer.name}`
        ),
        heartbeatMs: Duration.toMillis(reader.tuning.heartbeat),
        limits: reader.tuning.limits,
        held: () => ({ records: reader.buffer.records(), bytes: reader.buffer.bytes() }),
        onRecord: (record, info, reply) => {
          reader.consumer.delivered(info, reply)
          takeIn(reader, record, info)
        },
        onEnd: ({ reason }) => end(reason)
      })
      return reader.session
    }),
    (opened) =>
      Effect.sync(() => {
        opened.close()
        reader.session = undefined
      })
  )
  reader.failure = undefined
  return yield* Effect.raceFirst(Deferred.await(ended), watch(reader, session, end))
})

const takeIn = (reader: Reader, record: SourceRecord, info: DeliveryInfo): void => {
  const { isNew, gap } = reader.cursor.advance(info.position, info.pending)
  if (gap !== undefined) reader.buffer.pushGap(gap)
  if (!isNew) return
  reader.brought += 1
  reader.buffer.push(record)
  wake(reader)
}

const noteFacts = (reader: Reader, facts: StreamFacts): void => {
  const gap = reader.cursor.inspect(facts)
  if (gap === undefined) return
  reader.buffer.pushGap(gap)
  wake(reader)
}

/** Looks at a session once a heartbeat: is it alive, and has an idle stream lost its oldest? */
const watch = Effect.fnUntraced(function* (
  reader: Reader,
  session: PullSession,
  end: (reason: string) => void
): Effect.fn.Return<never, RecordSourceError> {
  let brought = reader.brought
  for (let look = 1; ; look += 1) {
    yield* Effect.sleep(reader.tuning.heartbeat)
    if (session.isSilent()) end("the server fell silent")
    if (look % looksBetweenInspections !== 0) continue
    const isIdle = brought === reader.brought
    brought = reader.brought
    // With a filter, what an idle shard passes over belongs to others; see the cursor.
    if (!isIdle || reader.shard.filterSubject !== undefined) continue
    const facts = yield* inspect(reader, reader.cursor.position(), reader.created)
    if (brought === reader.brought) noteFacts(reader, facts)
  }
})
