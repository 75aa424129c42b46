/** A small world for the tests: workers on shared memory ports, with pipelines that tests drive. */
import {
  checkpointKey,
  leaseKey,
  memoryCheckpointStore,
  MemoryKeyValue,
  memoryLease,
  MemoryNetwork,
  memoryRecordSource,
  memoryRecordSpool,
  MemoryStreams
} from "@holdfast/adapter-memory"
import type { Ordinal } from "@holdfast/disposition"
import { CheckpointStore, Lease, RecordSource } from "@holdfast/records"
import { Context, Effect, Exit, Fiber, Layer, Option, Result, Scope } from "effect"
import { TestClock } from "effect/testing"
import { parseWorkerConfig, type WorkerConfig } from "../config.ts"
import {
  type FinishedStretch,
  type OfferedRecord,
  type OpenShard,
  Pipeline,
  PipelineError
} from "../pipeline.ts"
import { spoolDeadLetters } from "../spool-dead-letters.ts"
import { Worker } from "../worker.ts"

/** One opening of a shard in a test's pipeline. */
export interface OpenedPipeline {
  readonly options: OpenShard
  readonly offered: Array<OfferedRecord>
  readonly flushes: Array<"partial" | "full">
  heartbeats: number
  isClosed: boolean
  /** Reports records as done by their positions. */
  readonly done: (...positions: ReadonlyArray<number>) => void
  /** Reports an attempt at a record as failed. */
  readonly fail: (
    position: number,
    more?: { readonly fatal?: boolean; readonly outage?: boolean }
  ) => void
}

/** What a test's pipeline does by itself. */
export interface PipelinePlan {
  /** Report everything as done as soon as it is offered. */
  isPrompt: boolean
  /** Report everything that is offered as done at a full flush. */
  finishesAtFlush: boolean
  finished: ReadonlyArray<FinishedStretch>
  takesParts: boolean
  openError: PipelineError | undefined
  /** Never answer that a shard is open. */
  hangsAtOpen: boolean
  offerError: PipelineError | undefined
}

/** A worker in a test. */
export interface TestWorker {
  readonly worker: Worker["Service"]
  readonly opened: Array<OpenedPipeline>
  readonly plan: PipelinePlan
  /** The process is frozen: nothing it calls answers; `thaw` lets it go on. */
  readonly freeze: () => void
  readonly thaw: () => void
  /** Ends it as a shutdown would. */
  readonly stop: Effect.Effect<void>
}

const ordinalOf = (offered: ReadonlyArray<OfferedRecord>, position: number): Ordinal => {
  const found = offered.find(({ record }) => record.position === BigInt(position))
  if (found === undefined) throw new Error(`position ${position} was not offered`)
  return found.ordinal
}

const makePipeline = (plan: PipelinePlan, opened: Array<OpenedPipeline>): Pipeline["Service"] => ({
  open: Effect.fnUntraced(function* (options) {
    if (plan.openError !== undefined) return yield* plan.openError
    if (plan.hangsAtOpen) return yield* Effect.never
    const offered: Array<OfferedRecord> = []
    const one: OpenedPipeline = {
      options,
      offered,
      flushes: [],
      heartbeats: 0,
      isClosed: false,
      done: (...positions) =>
        options.report([{ _tag: "Done", ordinals: positions.map((at) => ordinalOf(offered, at)) }]),
      fail: (position, more = {}) =>
        options.report([
          { _tag: "Failed", ordinal: ordinalOf(offered, position), reason: "no room", ...more }
        ])
    }
    opened.push(one)
    yield* Effect.addFinalizer(() => Effect.sync(() => (one.isClosed = true)))
    const finish = (records: ReadonlyArray<OfferedRecord>): void =>
      options.report([{ _tag: "Done", ordinals: records.map(({ ordinal }) => ordinal) }])
    return {
      finished: plan.finished,
      takesParts: plan.takesParts,
      offer: (batch) => {
        if (plan.offerError !== undefined) return Effect.fail(plan.offerError)
        return Effect.sync(() => {
          offered.push(...batch)
          if (plan.isPrompt) finish(batch)
        })
      },
      heartbeat: () => Effect.sync(() => void (one.heartbeats += 1)),
      flush: ({ mode }) =>
        Effect.sync(() => {
          one.flushes.push(mode)
          if (plan.finishesAtFlush && mode === "full") finish(offered)
        })
    }
  })
})

/** The settings of the tests: short intervals. */
export const testConfig = (
  worker: string,
  more: Readonly<Record<string, unknown>> = {}
): WorkerConfig =>
  Result.getOrThrow(
    parseWorkerConfig({
      cluster: "c1",
      worker,
      pullWaitMs: 200,
      heartbeatIntervalMs: 500,
      flushIntervalMs: 2_000,
      checkpointIntervalMs: 1_000,
      callDeadlineMs: 1_000,
      drainDeadlineMs: 5_000,
      stallAlarmMs: 20_000,
      discoveryIntervalMs: 1_000,
      leaseTermMs: 4_000,
      leaseMarginMs: 800,
      leaseRenewalMs: 1_000,
      ...more
    })
  )

/** Ports that stop answering while the worker is frozen. */
const freezable = (gate: { isFrozen: boolean }) => {
  const guard = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.suspend(() => (gate.isFrozen ? Effect.andThen(Effect.sleep(50), guard(effect)) : effect))
  return Layer.effectContext(
    Effect.gen(function* () {
      const store = yield* CheckpointStore
      const lease = yield* Lease
      const source = yield* RecordSource
      return Context.make(CheckpointStore, {
        load: (shard) => guard(store.load(shard)),
        save: (options) => guard(store.save(options))
      }).pipe(
        Context.add(Lease, {
          list: guard(lease.list),
          write: (options) => guard(lease.write(options))
        }),
        Context.add(RecordSource, {
          shards: guard(source.shards),
          open: (options) => guard(source.open(options))
        })
      )
    })
  )
}

const recordOf = (data: Uint8Array) => ({
  timestamp: 0n,
  subject: new Uint8Array(0),
  headers: [],
  data
})

/** The ports that workers share, and how to start one. */
export const makeWorld = Effect.gen(function* () {
  const keyValue = MemoryKeyValue.make()
  const streams = MemoryStreams.make()
  const network = yield* MemoryNetwork.make()
  const shared = Layer.mergeAll(
    memoryCheckpointStore(keyValue),
    memoryLease(keyValue),
    memoryRecordSource(streams)
  )
  const store = yield* Effect.provide(CheckpointStore, memoryCheckpointStore(keyValue))
  const leases = yield* Effect.provide(Lease, memoryLease(keyValue))

  const start = Effect.fnUntraced(function* (
    name: string,
    options: {
      readonly config?: Readonly<Record<string, unknown>>
      readonly plan?: Partial<PipelinePlan>
      /** The stream for dead letters; none without one. */
      readonly deadLetters?: string
      /** In place of the pipeline that the test drives. */
      readonly pipeline?: Layer.Layer<Pipeline>
    } = {}
  ) {
    const plan: PipelinePlan = {
      isPrompt: false,
      finishesAtFlush: false,
      finished: [],
      takesParts: true,
      openError: undefined,
      hangsAtOpen: false,
      offerError: undefined,
      ...options.plan
    }
    const opened: Array<OpenedPipeline> = []
    const gate = { isFrozen: false }
    const scope = yield* Scope.make()
    // The clock stands still once a test is over: let the drain run into its deadline.
    yield* Effect.addFinalizer(() =>
      Effect.gen(function* () {
        gate.isFrozen = false
        const closing = yield* Effect.forkChild(Scope.close(scope, Exit.void))
        yield* pass(6_000)
        yield* Fiber.join(closing)
      })
    )
    const layer = Worker.layer(testConfig(name, options.config)).pipe(
      Layer.provide([
        Layer.provide(freezable(gate), shared),
        MemoryNetwork.layer(network, name),
        options.pipeline ?? Layer.succeed(Pipeline, makePipeline(plan, opened))
      ])
    )
    const letters = options.deadLetters
    const spool = memoryRecordSpool(streams)
    const complete =
      letters === undefined
        ? layer
        : Layer.provide(layer, Layer.provide(spoolDeadLetters(letters), spool))
    const context = yield* Layer.buildWithScope(complete, scope)
    const started: TestWorker = {
      worker: Context.get(context, Worker),
      opened,
      plan,
      freeze: () => void (gate.isFrozen = true),
      thaw: () => void (gate.isFrozen = false),
      stop: Scope.close(scope, Exit.void)
    }
    return started
  })

  return {
    keyValue,
    streams,
    network,
    start,
    /** Appends records `1, 2, ...` of one byte to a stream. */
    append: (stream: string, count: number) =>
      streams.put(
        stream,
        Array.from({ length: count }, () => recordOf(new Uint8Array(1)))
      ),
    /** Appends one record of these bytes each. */
    appendData: (stream: string, ...data: ReadonlyArray<Uint8Array>) =>
      streams.put(stream, data.map(recordOf)),
    checkpoint: (shard: string) =>
      Effect.map(store.load(shard), (found) =>
        Option.getOrUndefined(Option.map(found, ({ checkpoint }) => checkpoint))
      ),
    position: (shard: string) =>
      Effect.map(store.load(shard), (found) =>
        Option.getOrUndefined(Option.flatMap(found, ({ checkpoint }) => checkpoint.position))
      ),
    saveAs: store.save,
    load: store.load,
    lease: (shard: string) =>
      Effect.map(leases.list, (all) => all.find(({ record }) => record.shard === shard)?.record),
    damageCheckpoint: (shard: string) =>
      keyValue.apply({ _tag: "Overwrite", key: checkpointKey(shard), value: Uint8Array.of(123) }),
    leaseKey
  }
})

/** Lets virtual time pass in small steps, so that timers come in their order. */
export const pass = Effect.fnUntraced(function* (milliseconds: number) {
  for (let elapsed = 0; elapsed < milliseconds; elapsed += 50) yield* TestClock.adjust(50)
})
