/**
 * A worker as the child of a MultiLangDaemon: one shard, given and taken by the daemon.
 *
 *     initialize ──▶ processRecords ... ──▶ shardEnded: finish, checkpoint the end
 *                                      ──▶ shutdownRequested: drain, checkpoint, answer
 *                                      ──▶ leaseLost, or the input ends: stop, write nothing
 *
 * The process ends with its input. What was in flight then comes again, to whoever has the shard.
 */
import type { Readable, Writable } from "node:stream"
import { MultiLangDaemon, multiLangDaemon } from "@holdfast/adapter-multilang"
import type { Messaging, MessagingError } from "@holdfast/messaging"
import { type CommandFailure, failure } from "@holdfast/process"
import { type Pipeline, Worker, type WorkerConfig } from "@holdfast/service-worker"
import { type Duration, Effect, Layer, Option } from "effect"

/** How a child runs. */
export interface MultiLangWorkerOptions<E, R> {
  readonly config: WorkerConfig
  /** What the daemon writes to, and reads. */
  readonly input: Readable
  readonly output: Writable
  /** What its shard belongs to. */
  readonly stream: string
  readonly pipeline: Layer.Layer<Pipeline, E, R>
}

/**
 * Settings that a child needs. The daemon holds the lease, and says when it is lost; what stands in
 * for it here costs nothing to renew, and must be looked at often so that a loss stops the shard at
 * once.
 */
export const childSettings = {
  leaseTermMs: 10_000,
  leaseMarginMs: 2_000,
  leaseRenewalMs: 100,
  discoveryIntervalMs: 100,
  callDeadlineMs: 10_000
}

const fenceDeadline = "3 seconds"
const takeDeadline = "5 seconds"

/** Runs until the daemon closes the input; a daemon that cannot be understood is a failure. */
export const multiLangWorker = <E, R>(
  options: MultiLangWorkerOptions<E, R>
): Effect.Effect<void, CommandFailure | E | MessagingError, Messaging | R> =>
  Effect.gen(function* () {
    const { config, input, output, pipeline, stream } = options
    const child = Worker.layer(config).pipe(
      Layer.provide(pipeline),
      Layer.provideMerge(multiLangDaemon({ input, output, stream }))
    )
    yield* Effect.provide(serveDaemon, child)
  })

const serveDaemon = Effect.gen(function* () {
  const daemon = yield* MultiLangDaemon
  const worker = yield* Worker
  const finishing = daemon.shutdownRequested.pipe(
    Effect.andThen(takenIn(daemon, worker)),
    Effect.andThen(worker.drain),
    Effect.andThen(daemon.drained)
  )
  const end = yield* Effect.raceFirst(daemon.ended, Effect.andThen(finishing, Effect.never)).pipe(
    Effect.onInterrupt(() => daemon.leaving)
  )
  yield* fenced(worker)
  if (end._tag === "Fault") yield* failure(`the daemon cannot be understood: ${end.message}`)
})

const pollInterval = "20 millis"

/** Waits until something is so; whether that came in time. */
const waitUntil = (isSo: Effect.Effect<boolean>, deadline: Duration.Input) => {
  const waiting = Effect.gen(function* () {
    while (!(yield* isSo)) yield* Effect.sleep(pollInterval)
  })
  return Effect.map(Effect.timeoutOption(waiting, deadline), Option.isSome)
}

/**
 * Waits until the worker has read all that the daemon has handed over, so that a drain does not
 * come first and find nothing. What is not taken in by the deadline comes again, to whoever is
 * next.
 */
const takenIn = (daemon: MultiLangDaemon["Service"], worker: Worker["Service"]) =>
  waitUntil(
    Effect.map(Effect.all([daemon.newest, worker.status]), ([newest, { shards }]) => {
      const [shard] = shards
      if (shard === undefined || shard.state === "starting") return false
      const places = [shard.read, shard.checkpoint]
      return newest === undefined || places.some((one) => one !== undefined && one >= newest)
    }),
    takeDeadline
  )

/** Waits until the shard has stopped: a drain after that finds nothing to flush. */
const fenced = Effect.fnUntraced(function* (worker: Worker["Service"]) {
  const isStopped = yield* waitUntil(
    Effect.map(worker.status, ({ shards }) => shards.length === 0),
    fenceDeadline
  )
  if (!isStopped) yield* Effect.logWarning("the shard has not stopped in time")
})
