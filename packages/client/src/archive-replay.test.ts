import { MemoryNetwork } from "@holdfast/adapter-memory"
import { assert, describe, it } from "@effect/vitest"
import type { SegmentRecord } from "@holdfast/segment"
import { Effect } from "effect"
import fc from "fast-check"
import { makeMemoryReplayTarget } from "./testing/memory-replay-target.ts"
import { makeWithArchive, numbers, range, record } from "./testing/with-archive.ts"

const network = Effect.map(MemoryNetwork.make({ maxPayloadBytes: 1_048_576 }), (made) => ({
  services: MemoryNetwork.layer(made, "services"),
  client: MemoryNetwork.layer(made, "client")
}))
const withArchive = makeWithArchive(network)
const archive = "orders"

const positionsOf = (stored: ReadonlyArray<{ readonly timestamp: bigint }>) =>
  stored.map(({ timestamp }) => Number(timestamp / 1_000n))

describe("replaying an archive", () => {
  it.live("brings subjects, headers and data in order; a second run adds nothing", () =>
    withArchive(({ archives, seal }) =>
      Effect.gen(function* () {
        const odd: Partial<SegmentRecord> = {
          headers: [
            [Uint8Array.of(65), Uint8Array.of(255, 0)],
            [Uint8Array.of(65), Uint8Array.of()]
          ],
          data: Uint8Array.of(0, 255)
        }
        const records = [...range(1, 40), record(41, odd)]
        yield* seal(records.slice(0, 20))
        yield* seal(records.slice(20))
        const { stored, target } = makeMemoryReplayTarget()
        const first = yield* archives.replay({ archive, target })
        assert.deepStrictEqual(first, { archive, resumed: [], published: 41, duplicates: 0 })
        const bare = ({ data, headers, subject }: Omit<SegmentRecord, "part" | "position">) => ({
          data,
          headers: [...headers],
          subject
        })
        assert.deepStrictEqual(stored.map(bare), records.map(bare))
        const second = yield* archives.replay({ archive, target })
        assert.deepStrictEqual(
          [second.published, second.resumed],
          [0, [{ shard: "ORDERS", position: 41n, part: 0 }]]
        )
        yield* seal(range(42, 50))
        yield* archives.replay({ archive, target })
        assert.deepStrictEqual(positionsOf(stored), numbers(1, 50))
      })
    )
  )

  it.live("stops with a sentence, and goes on where it stopped, whatever was forgotten since", () =>
    withArchive(({ archives, seal }) =>
      Effect.gen(function* () {
        yield* seal(range(1, 30))
        const memory = makeMemoryReplayTarget()
        const { stored, target } = memory
        memory.takes = 12
        const stopped = yield* Effect.flip(archives.replay({ archive, target }))
        assert.strictEqual(stopped._tag, "ReplayStopped")
        assert.match(
          stopped.message,
          /^The replay stopped at holdfast\.orders\.\w+\.13\.ORDERS: away\. 12 records/
        )
        memory.takes = Number.POSITIVE_INFINITY
        memory.forgotten = 11
        assert.strictEqual((yield* archives.replay({ archive, target })).published, 18)
        assert.deepStrictEqual(positionsOf(stored), numbers(1, 30))
      })
    )
  )

  it.live("a selection is a replay of its own; its end is no part of it", () =>
    withArchive(({ archives, seal }) =>
      Effect.gen(function* () {
        yield* seal(range(1, 30))
        const { stored, target } = makeMemoryReplayTarget()
        const replay = (more: object) => archives.replay({ archive, target, ...more })
        yield* replay({ from: 11n, to: 14n })
        yield* replay({ from: 11n, to: 16n })
        yield* replay({ to: 3n })
        yield* replay({ upTo: new Map([["ORDERS", 5n]]), to: 9n })
        yield* replay({ tag: { name: "kind", value: "kind-2" }, to: 20n })
        yield* replay({ tag: { name: "kind", value: "kind-2" } })
        yield* replay({ timeFrom: 28_000n })
        assert.deepStrictEqual(positionsOf(stored), [
          ...numbers(11, 16),
          ...numbers(1, 5),
          2,
          7,
          12,
          17,
          22,
          27,
          ...numbers(28, 30)
        ])
      })
    )
  )

  it.live("goes at a rate, which an empty stretch does not hold up", () =>
    withArchive(({ archives, seal }) =>
      Effect.gen(function* () {
        yield* seal(range(1, 20))
        const memory = makeMemoryReplayTarget()
        const { batches, stored, target } = memory
        yield* archives.replay({ archive, target, pace: { _tag: "Rate", perSecond: 100 } })
        assert.deepStrictEqual(positionsOf(stored), numbers(1, 20))
        assert.isAbove(batches.length, 1)
        const pace = { _tag: "Original", factor: 0 } as const
        const wrong = yield* Effect.flip(archives.replay({ archive, target, pace }))
        assert.strictEqual(wrong._tag, "InvalidRequest")
      })
    )
  )

  it.live(
    "several shards: however often it breaks off, each record once, each shard in order",
    () =>
      withArchive(({ archives, seal }) =>
        Effect.gen(function* () {
          const shards = ["a", "b", "c"]
          // Interleaved in time, with stretches that one shard has alone.
          const of = (shard: string, from: number, to: number) =>
            numbers(from, to).map((at) => {
              const time = BigInt(at * 7 + shard.charCodeAt(0) * (at % 11))
              return record(at, { timestamp: time, subject: new TextEncoder().encode(shard) })
            })
          for (const shard of shards) yield* seal(of(shard, 1, 20), { shard })
          yield* Effect.promise(() =>
            fc.assert(
              fc.asyncProperty(fc.array(fc.nat(15), { maxLength: 12 }), async (breaks) => {
                const memory = makeMemoryReplayTarget()
                const { stored, target } = memory
                const run = () =>
                  Effect.runPromise(Effect.result(archives.replay({ archive, target })))
                for (const takes of breaks) {
                  memory.takes = takes
                  await run()
                }
                memory.takes = Number.POSITIVE_INFINITY
                assert.strictEqual((await run())._tag, "Success")
                for (const shard of shards) {
                  const own = stored.filter(({ id }) => id.endsWith(`.${shard}`))
                  const places = own.map(({ id }) => Number(/\.(\d+)\.\w$/.exec(id)?.[1]))
                  assert.deepStrictEqual(places, numbers(1, 20))
                }
              }),
              { numRuns: 15 }
            )
          )
          yield* seal(of("a", 21, 30), { shard: "a" })
          const { stored, target } = makeMemoryReplayTarget()
          yield* archives.replay({ archive, target })
          assert.strictEqual(stored.length, 70)
        })
      )
  )
})
