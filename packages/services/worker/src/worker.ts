/**
 * The worker service: owns shards by lease, archives them through a pipeline, and accounts for
 * every record until it may be checkpointed.
 *
 *     Lease ──▶ shards ──▶ RecordSource ──▶ tracker ──▶ Pipeline
 *                                             │  ▲          │
 *                          CheckpointStore ◀──┘  └─ report ─┘
 *
 * 1. A checkpoint never passes an unfinished record; every finished prefix is checkpointed, even
 *    when the stream is idle.
 * 2. Whoever has lost a lease writes nothing: the checkpoint is a compare-and-set under its epoch.
 * 3. One shard's failure, halt or stall leaves the others alone.
 * 4. Shutdown stops the intake, flushes within a deadline, checkpoints the finished prefix and
 *    releases the leases; leases are renewed meanwhile.
 */
import type { Lease } from "@holdfast/records"
import type { Messaging, MessagingError } from "@holdfast/messaging"
import { type Operation, serveOperation, type ServiceError, WorkerOperations } from "@holdfast/wire"
import { Clock, Context, Duration, Effect, Exit, Fiber, Layer, Scope } from "effect"
import type { WorkerConfig } from "./config.ts"
import {
  drainAndRelease,
  makeOwnership,
  type Ownership,
  renewLeases,
  stopLapsed
} from "./leases.ts"
import { moveShard, resetShard, setPaused } from "./shard-orders.ts"
import type { ShardPorts } from "./shard.ts"
import { statusOf } from "./status.ts"

const statusConcurrency = 2
const statusBacklog = 16

/** A running worker. */
export class Worker extends Context.Service<
  Worker,
  {
    /** The answer of the status operation. */
    readonly status: Effect.Effect<ReturnType<typeof statusOf>>
    /** Drains and releases every shard and takes no further ones; returns within the deadline. */
    readonly drain: Effect.Effect<void>
  }
>()("@holdfast/service-worker/Worker") {
  /** Runs a worker until the scope closes, which drains it. */
  static readonly layer = (
    config: WorkerConfig
  ): Layer.Layer<Worker, MessagingError, Lease | Messaging | ShardPorts> =>
    Layer.effect(Worker, makeWorker(config))
}

const makeWorker = Effect.fnUntraced(function* (
  config: WorkerConfig
): Effect.fn.Return<
  Worker["Service"],
  MessagingError,
  Lease | Messaging | ShardPorts | Scope.Scope
> {
  const ports = yield* Effect.context<Lease | ShardPorts>()
  const clock = yield* Clock.Clock
  const inner = yield* Scope.make()
  const ownership = makeOwnership(config, clock, inner)
  const status = Effect.sync(() => statusOf(ownership))
  const serving = {
    cluster: config.cluster,
    concurrency: statusConcurrency,
    backlog: statusBacklog,
    handler: () => Effect.map(status, (response) => ({ response }))
  }
  yield* serveOperation(WorkerOperations.workerStatus, serving)
  yield* serveOperation(WorkerOperations.workerStatus, { ...serving, instance: config.worker })
  yield* serveOrders(ownership, ports)
  const drain = Effect.provide(drainAll(ownership), ports)
  // Added after the status is served, so that it closes first: a drain can be watched.
  yield* Effect.addFinalizer(() =>
    // A fiber of its own: the one that closes the scope may have been interrupted itself, and what
    // it runs as interruptible would end at once.
    Effect.forkDetach(Effect.interruptible(drain)).pipe(
      Effect.flatMap(Fiber.await),
      Effect.andThen(Scope.close(inner, Exit.void))
    )
  )
  const renewal = surviving("renewal", renewLeases(ownership))
  const guard = Effect.sync(() => stopLapsed(ownership))
  const guardIntervalMs = Math.max(1, config.leaseMarginMs / 4)
  yield* Effect.forkIn(every(config.leaseRenewalMs, renewal), inner)
  yield* Effect.forkIn(every(guardIntervalMs, guard), inner)
  return Worker.of({ status, drain })
})

/** Serves what an operator orders about shards, under this worker's own name. */
const serveOrders = Effect.fnUntraced(function* (
  ownership: Ownership,
  ports: Context.Context<Lease | ShardPorts>
) {
  const { cluster, worker } = ownership.config
  const order = <Request>(
    operation: Operation<Request, object>,
    carryOut: (request: Request) => Effect.Effect<void, ServiceError, Lease | ShardPorts>
  ) =>
    serveOperation(operation, {
      cluster,
      instance: worker,
      concurrency: 1,
      backlog: statusBacklog,
      handler: (request) => Effect.as(Effect.provide(carryOut(request), ports), { response: {} })
    })
  const { moveShard: move, pauseShard, resetShard: reset, resumeShard } = WorkerOperations
  yield* order(pauseShard, ({ shard }) => setPaused(ownership, { shard, isPaused: true }))
  yield* order(resumeShard, ({ shard }) => setPaused(ownership, { shard, isPaused: false }))
  yield* order(move, (request) => moveShard(ownership, request))
  yield* order(reset, ({ after, shard }) => resetShard(ownership, { shard, after }))
})

const every = <R>(intervalMs: number, work: Effect.Effect<void, never, R>) =>
  Effect.forever(Effect.andThen(work, Effect.sleep(Duration.millis(intervalMs))))

/** A renewal that dies of a defect is reported, and the next one comes. */
const surviving = <R>(name: string, work: Effect.Effect<void, never, R>) =>
  Effect.catchCause(work, (cause) => Effect.logError(`the ${name} died`, cause))

const drainAll = Effect.fnUntraced(function* (ownership: Ownership) {
  const { callDeadlineMs, drainDeadlineMs } = ownership.config
  ownership.isAccepting = false
  // A claim that was under way when the drain began shows up only after it: look again.
  const releases = Effect.whileLoop({
    while: () => ownership.held.size > 0,
    body: () =>
      Effect.forEach(
        [...ownership.held],
        ([shard, held]) => drainAndRelease(ownership, shard, held),
        { concurrency: "unbounded", discard: true }
      ),
    step: () => undefined
  })
  // A full flush, then two writes of the checkpoint and the release, each within its deadline.
  yield* Effect.timeoutOption(releases, Duration.millis(drainDeadlineMs + 4 * callDeadlineMs))
})
