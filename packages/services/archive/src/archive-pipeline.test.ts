import { MemoryNetwork } from "@holdfast/adapter-memory"
import { assert, describe, it } from "@effect/vitest"
import { ArchiveClient, clientLayer } from "@holdfast/client"
import { emptyMap, type Ordinal } from "@holdfast/disposition"
import type { SourceRecord } from "@holdfast/records"
import {
  type Disposition,
  type FinishedStretch,
  type OfferedRecord,
  Pipeline,
  type ShardPipeline
} from "@holdfast/service-worker"
import { Brand, Effect, Exit, Fiber, Layer, References, Result, Scope, Stream } from "effect"
import {
  type FakeCluster,
  fakeClusterLayer,
  makeFakeCluster
} from "../../../client/src/testing/fake-cluster.ts"
import { archivePipelineLayer } from "./index.ts"

const text = (value: string) => new TextEncoder().encode(value)
const recordAt = (position: number, bytes = 100): SourceRecord => ({
  position: BigInt(position),
  timestamp: BigInt(position) * 1_000n,
  subject: text("orders.eu"),
  headers: [[text("h"), text(String(position))]],
  data: text(`${position} `.padEnd(bytes, "x"))
})
const ordinal = Brand.nominal<Ordinal>()
const offered = (from: number, to: number, attempt = 1): ReadonlyArray<OfferedRecord> =>
  Array.from({ length: to - from + 1 }, (_, at) => ({
    ordinal: ordinal(from + at),
    record: recordAt(from + at),
    attempt
  }))

/** One opening of the shard: what it reports, and how to end it. */
interface Opened {
  readonly pipeline: ShardPipeline
  readonly reports: Array<Disposition>
  readonly done: () => ReadonlyArray<number>
  readonly failed: () => ReadonlyArray<number>
  readonly close: Effect.Effect<void>
}

/** Waits until a condition holds; a test that waits too long fails. */
const until = (condition: () => boolean): Effect.Effect<void> =>
  Effect.suspend(() =>
    condition() ? Effect.void : Effect.andThen(Effect.sleep("5 millis"), until(condition))
  ).pipe(Effect.timeout("40 seconds"), Effect.orDie)

interface World {
  readonly cluster: FakeCluster
  readonly archives: ArchiveClient["Service"]
  readonly open: (after?: number, epoch?: number) => Effect.Effect<Opened, unknown>
  readonly read: Effect.Effect<ReadonlyArray<number>, unknown>
}

const withWorld = <A, E>(
  limits: { readonly records?: number; readonly ageMs?: number; readonly goal?: number },
  program: (world: World) => Effect.Effect<A, E>
) =>
  Effect.gen(function* () {
    const cluster = makeFakeCluster(3)
    const network = yield* MemoryNetwork.make({ maxPayloadBytes: 1_048_576 })
    const services = fakeClusterLayer(cluster).pipe(
      Layer.provide(MemoryNetwork.layer(network, "services"))
    )
    const client = clientLayer({
      cluster: cluster.name,
      writeDeadline: "500 millis",
      callDeadline: "500 millis"
    }).pipe(Layer.provide(MemoryNetwork.layer(network, "worker")), Layer.provide(services))
    const layer = archivePipelineLayer({
      archiveOf: () => "orders",
      storingMax: 2,
      refresh: "50 millis"
    }).pipe(Layer.provideMerge(client))
    return yield* Effect.gen(function* () {
      const archives = yield* ArchiveClient
      const pipelines = yield* Pipeline
      const { ageMs = 60_000, goal = 2, records = 10 } = limits
      const segments = { bytes: 1_000_000, records, ageMs }
      yield* archives.add({ name: "orders", stream: "ORDERS", settings: { segments, goal } })
      const open = Effect.fnUntraced(function* (after?: number, epoch = 1) {
        const scope = yield* Scope.make()
        const reports: Array<Disposition> = []
        const base = after === undefined ? undefined : BigInt(after)
        const pipeline = yield* pipelines
          .open({
            shard: "ORDERS",
            stream: "ORDERS",
            epoch,
            resume: { after: base, completion: emptyMap(base) },
            requestCheckpoint: () => undefined,
            report: (all) => reports.push(...all)
          })
          .pipe(Scope.provide(scope))
        return {
          pipeline,
          reports,
          done: () =>
            reports
              .flatMap((one) => (one._tag === "Done" ? one.ordinals : []))
              .toSorted((left, right) => left - right),
          failed: () => reports.flatMap((one) => (one._tag === "Failed" ? [one.ordinal] : [])),
          close: Scope.close(scope, Exit.void)
        }
      })
      const read = Stream.runCollect(archives.read({ archive: "orders" })).pipe(
        Effect.map((all) => all.map(({ record }) => Number(record.position)))
      )
      return yield* program({ cluster, archives, open, read })
    }).pipe(Effect.provide(layer), Effect.provideService(References.MinimumLogLevel, "None"))
  }).pipe(Effect.scoped)

const numbers = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, at) => from + at)

describe("the archive pipeline", () => {
  it.live("seals full segments, reports their records, and reads them back", () =>
    withWorld({}, ({ cluster, open, read }) =>
      Effect.gen(function* () {
        const { done, pipeline } = yield* open()
        yield* pipeline.offer(offered(1, 35))
        yield* until(() => done().length === 30)
        assert.deepStrictEqual(done(), numbers(1, 30))
        yield* pipeline.flush({ mode: "full", deadline: "1 second" })
        yield* until(() => done().length === 35)
        assert.deepStrictEqual(yield* read, numbers(1, 35))
        assert.strictEqual(cluster.chunks.length, 4)
        assert.isTrue(cluster.chunks.every(({ holders }) => holders.length === 2))
      })
    )
  )

  it.live("worker-C10: seals what is old on a stream that has dried up", () =>
    withWorld({ ageMs: 50 }, ({ open }) =>
      Effect.gen(function* () {
        const { done, pipeline } = yield* open()
        yield* pipeline.offer(offered(1, 3))
        yield* until(() => done().length === 3)
      })
    )
  )

  it.live("reports nothing before the catalogue has confirmed", () =>
    withWorld({}, ({ cluster, open }) =>
      Effect.gen(function* () {
        const { close, done, failed, pipeline, reports } = yield* open()
        cluster.failNext.set("request", 1_000_000)
        yield* pipeline.offer(offered(1, 10))
        yield* until(() => cluster.chunks.length === 1 && cluster.calls.includes("request"))
        assert.deepStrictEqual(reports, [])
        yield* until(() => failed().length === 10)
        assert.deepStrictEqual(done(), [])
        yield* close
      })
    )
  )

  it.live("goes on with the same chunk when only sealing has to be tried again", () =>
    withWorld({}, ({ cluster, open }) =>
      Effect.gen(function* () {
        const { done, pipeline } = yield* open()
        cluster.failNext.set("request-answer", 3)
        yield* pipeline.offer(offered(1, 10))
        yield* until(() => done().length === 10)
        assert.strictEqual(cluster.calls.filter((call) => call === "alloc").length, 1)
        assert.strictEqual(cluster.chunks.filter(({ isFreed }) => isFreed).length, 0)
      })
    )
  )

  it.live(
    "worker-A12: leaves records unfinished while no device takes them, then stores them",
    () =>
      withWorld({}, ({ cluster, open, read }) =>
        Effect.gen(function* () {
          const { done, failed, pipeline } = yield* open()
          for (const device of cluster.devices) device.isDown = true
          yield* pipeline.offer(offered(1, 10))
          yield* until(() => failed().length === 10)
          assert.deepStrictEqual(done(), [])
          for (const device of cluster.devices) device.isDown = false
          yield* pipeline.offer(offered(11, 14))
          yield* pipeline.offer(offered(1, 10, 2))
          yield* pipeline.flush({ mode: "full", deadline: "1 second" })
          yield* until(() => done().length === 14)
          assert.deepStrictEqual(yield* read, numbers(1, 14))
        })
      )
  )

  it.live("takes retries in any order, apart from what is new", () =>
    withWorld({ records: 100 }, ({ open, read }) =>
      Effect.gen(function* () {
        const { done, pipeline } = yield* open()
        yield* pipeline.offer([...offered(20, 22), ...offered(5, 6, 2)])
        yield* pipeline.offer([...offered(3, 3, 2), ...offered(9, 9, 3), ...offered(23, 23)])
        yield* pipeline.flush({ mode: "full", deadline: "1 second" })
        yield* until(() => done().length === 8)
        assert.deepStrictEqual(yield* read, [3, 5, 6, 9, 20, 21, 22, 23])
      })
    )
  )

  it.live("suspends an offer while too much is being stored, and then takes all of it", () =>
    withWorld({}, ({ cluster, open }) =>
      Effect.gen(function* () {
        const { done, pipeline } = yield* open()
        cluster.failNext.set("alloc", 1_000_000)
        yield* pipeline.offer(offered(1, 20))
        const waiting = yield* Effect.forkChild(pipeline.offer(offered(21, 30)))
        yield* Effect.sleep("50 millis")
        assert.isUndefined(waiting.pollUnsafe())
        cluster.failNext.set("alloc", 0)
        yield* Fiber.join(waiting)
        yield* until(() => done().length === 30)
      })
    )
  )

  it.live("takes nothing of an offer that is interrupted while it waits", () =>
    withWorld({}, ({ cluster, open, read }) =>
      Effect.gen(function* () {
        const { done, pipeline } = yield* open()
        cluster.failNext.set("alloc", 1_000_000)
        yield* pipeline.offer(offered(1, 20))
        const waiting = yield* Effect.forkChild(pipeline.offer(offered(21, 30)))
        yield* Effect.sleep("20 millis")
        yield* Fiber.interrupt(waiting)
        cluster.failNext.set("alloc", 0)
        yield* until(() => done().length === 20)
        yield* pipeline.flush({ mode: "full", deadline: "1 second" })
        assert.deepStrictEqual(yield* read, numbers(1, 20))
      })
    )
  )
})

describe("a takeover", () => {
  const stretches = (finished: ReadonlyArray<FinishedStretch>) =>
    finished.map(({ from, to }) => [Number(from), Number(to)])

  it.live("goes on behind what is sealed beyond the checkpoint", () =>
    withWorld({}, ({ open, read }) =>
      Effect.gen(function* () {
        const first = yield* open(0)
        yield* first.pipeline.offer(offered(1, 25))
        yield* until(() => first.done().length === 20)
        yield* first.close
        const second = yield* open(5, 2)
        assert.deepStrictEqual(stretches(second.pipeline.finished), [
          [1, 10],
          [11, 20]
        ])
        yield* second.pipeline.offer(offered(21, 30))
        yield* until(() => second.done().length === 10)
        assert.deepStrictEqual(yield* read, numbers(1, 30))
      })
    )
  )

  it.live("relies on what is sealed only when the write concern confirms it", () =>
    withWorld({}, ({ cluster, open }) =>
      Effect.gen(function* () {
        const first = yield* open(0)
        yield* first.pipeline.offer(offered(1, 20))
        yield* until(() => first.done().length === 20)
        yield* first.close
        // Who tells of the segments may hold them alone, and nobody confirms more.
        cluster.failNext.set("request", 1_000)
        const refused = yield* Effect.flip(open(0, 2))
        assert.propertyVal(refused, "code", "unavailable")
        cluster.failNext.clear()
        const second = yield* open(0, 2)
        assert.deepStrictEqual(stretches(second.pipeline.finished), [
          [1, 10],
          [11, 20]
        ])
      })
    )
  )

  it.live("relies on complete segments only, and loses nothing between them", () =>
    withWorld({ records: 3 }, ({ open, read }) =>
      Effect.gen(function* () {
        const first = yield* open(0)
        // 4 was refused, 2 and 6 come again: what holds 2 and 6 does not hold 3 to 5.
        const tooLarge = { ordinal: ordinal(4), record: recordAt(4, 70_000_000), attempt: 1 }
        yield* first.pipeline.offer([...offered(3, 3), tooLarge, ...offered(5, 5)])
        yield* first.pipeline.offer([...offered(2, 2, 2), ...offered(6, 6, 2)])
        yield* first.pipeline.flush({ mode: "full", deadline: "1 second" })
        yield* until(() => first.done().length === 4)
        assert.deepStrictEqual(first.failed(), [4])
        yield* first.close
        const second = yield* open(0, 2)
        assert.deepStrictEqual(stretches(second.pipeline.finished), [
          [3, 3],
          [5, 5]
        ])
        yield* second.pipeline.offer([...offered(2, 2), ...offered(4, 4), ...offered(6, 6)])
        yield* second.pipeline.flush({ mode: "full", deadline: "1 second" })
        yield* until(() => second.done().length === 3)
        assert.deepStrictEqual(yield* read, [2, 3, 4, 5, 6])
      })
    )
  )

  it.live("by a worker that knows less: of two segments from one position the longer stays", () =>
    withWorld({ records: 100 }, ({ cluster, open, read }) =>
      Effect.gen(function* () {
        const first = yield* open(0)
        const second = yield* open(0, 2)
        yield* first.pipeline.offer(offered(1, 30))
        yield* second.pipeline.offer(offered(1, 20))
        yield* first.pipeline.flush({ mode: "full", deadline: "1 second" })
        yield* until(() => first.done().length === 30)
        yield* second.pipeline.flush({ mode: "full", deadline: "1 second" })
        yield* until(() => second.done().length === 20)
        assert.deepStrictEqual(yield* read, numbers(1, 30))
        assert.deepStrictEqual(
          cluster.chunks.map(({ isFreed }) => isFreed),
          [false, true]
        )
      })
    )
  )
})

describe("the state of the archive", () => {
  it.live("an archive that is not there cannot be worked for", () =>
    withWorld({}, ({ archives, open }) =>
      Effect.gen(function* () {
        yield* archives.remove("orders")
        const opened = yield* Effect.result(open())
        assert.isTrue(Result.isFailure(opened) && /"invalid"/.test(JSON.stringify(opened.failure)))
      })
    )
  )

  it.live("a paused archive takes nothing more; new settings hold for new segments", () =>
    withWorld({}, ({ archives, cluster, open }) =>
      Effect.gen(function* () {
        const { done, pipeline } = yield* open()
        yield* archives.change("orders", (settings) => ({ ...settings, goal: 3 }))
        yield* Effect.sleep("200 millis")
        yield* pipeline.offer(offered(1, 10))
        yield* until(() => done().length === 10)
        assert.strictEqual(cluster.chunks[0]?.holders.length, 3)
        yield* archives.pause("orders")
        yield* Effect.sleep("200 millis")
        const refused = yield* Effect.result(pipeline.offer(offered(11, 12)))
        assert.isTrue(Result.isFailure(refused) && refused.failure.code === "unavailable")
      })
    )
  )
})
