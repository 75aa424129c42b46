import { assert, describe, it } from "@effect/vitest"
import { RecordSource, RecordSourceError } from "@holdfast/records"
import { describeRecordSourceContract } from "@holdfast/suites"
import { Effect, Fiber, Option } from "effect"
import { memoryRecordSource } from "./memory-record-source.ts"
import { MemoryStreams } from "./memory-streams.ts"

const shard = "orders"
const record = {
  timestamp: 0n,
  subject: new Uint8Array(0),
  headers: [],
  data: Uint8Array.of(1)
}
const bounds = { maxRecords: 100, maxBytes: 1_000, wait: "10 millis" } as const

const makeStorage = (pendingMax: number) =>
  Effect.sync(() => {
    const streams = MemoryStreams.make()
    const layer = memoryRecordSource(streams, { watermark: () => ({ pendingMax }) })
    return { streams, shard, layer }
  })

describeRecordSourceContract({
  name: "memory, through a consumer with a watermark",
  storage: makeStorage(1_000),
  put: ({ streams }, records) => streams.put(shard, records),
  grows: true,
  purge: ({ streams }, upTo) => streams.purge(shard, upTo),
  remove: ({ streams }, position) => streams.apply({ _tag: "Remove", stream: shard, position }),
  end: ({ streams }) => streams.apply({ _tag: "End", stream: shard })
})

/** Ten records, and a way to open readers of them. */
const tenRecords = (pendingMax: number) =>
  Effect.gen(function* () {
    const { layer, streams } = yield* makeStorage(pendingMax)
    yield* streams.put(
      shard,
      Array.from({ length: 10 }, () => record)
    )
    const open = (after?: bigint) =>
      RecordSource.use((source) =>
        source.open({ shard, after: Option.fromUndefinedOr(after) })
      ).pipe(Effect.provide(layer))
    return { open, consumer: streams.byName.get(shard)?.consumer }
  })

const positionsOf = (records: ReadonlyArray<{ readonly position: bigint }>) =>
  records.map(({ position }) => Number(position))

describe("a memory stream's consumer", () => {
  it.live("delivers no more than may be unacknowledged, and goes on when some is", () =>
    Effect.gen(function* () {
      const { consumer, open } = yield* tenRecords(4)
      const reader = yield* open()
      assert.deepStrictEqual(positionsOf((yield* reader.next(bounds)).records), [1, 2, 3, 4])
      const full = yield* reader.next(bounds)
      assert.deepStrictEqual([full.records, full.gaps, full.newest], [[], [], Option.some(10n)])
      const waiting = yield* Effect.forkChild(reader.next({ ...bounds, wait: "5 seconds" }), {
        startImmediately: true
      })
      yield* reader.acknowledge(3n)
      assert.deepStrictEqual(positionsOf((yield* Fiber.join(waiting)).records), [5, 6, 7])
      assert.strictEqual(consumer?.pending, 4)
    }).pipe(Effect.scoped)
  )

  it.live("is taken over by whoever opens the stream, behind the position that is named", () =>
    Effect.gen(function* () {
      const { consumer, open } = yield* tenRecords(100)
      const stale = yield* open()
      yield* stale.next(bounds)
      const waiting = yield* Effect.forkChild(
        Effect.flip(stale.next({ ...bounds, wait: "5 seconds" })),
        { startImmediately: true }
      )
      yield* Effect.sleep("10 millis")
      const reader = yield* open(7n)
      const refusal = yield* Fiber.join(waiting)
      assert.instanceOf(refusal, RecordSourceError)
      assert.strictEqual(refusal.code, "unavailable")
      assert.strictEqual(consumer?.pending, 0)
      assert.deepStrictEqual(positionsOf((yield* reader.next(bounds)).records), [8, 9, 10])
      // What the stale one says late counts, too: it covers what it names, and nothing more.
      yield* stale.acknowledge(8n)
      assert.strictEqual(consumer?.pending, 2)
      yield* reader.acknowledge(10n)
      assert.strictEqual(consumer?.pending, 0)
    }).pipe(Effect.scoped)
  )
})
