import { MemoryNetwork } from "@holdfast/adapter-memory"
import { assert, describe, it } from "@effect/vitest"
import { parseTagRule } from "@holdfast/catalogue"
import { Effect, Result, Stream } from "effect"
import { spoilDevice } from "./testing/fake-cluster.ts"
import { makeWithArchive, numbers, positions, range, record } from "./testing/with-archive.ts"

const network = Effect.map(MemoryNetwork.make({ maxPayloadBytes: 1_048_576 }), (made) => ({
  services: MemoryNetwork.layer(made, "services"),
  client: MemoryNetwork.layer(made, "client")
}))
const withArchive = makeWithArchive(network)

describe("reading an archive", () => {
  it.live("gives every record of many segments back in order, byte for byte", () =>
    withArchive(({ archives, seal }) =>
      Effect.gen(function* () {
        for (let at = 0; at < 30; at++) yield* seal(range(at * 10 + 1, at * 10 + 10))
        const read = yield* Stream.runCollect(archives.read({ archive: "orders" }))
        assert.deepStrictEqual(
          read.map((one) => ({ ...one.record, headers: [...one.record.headers] })),
          range(1, 300).map((one) => ({ ...one, headers: [...one.headers] }))
        )
        assert.deepStrictEqual([...new Set(read.map(({ shard }) => shard))], ["ORDERS"])
      })
    )
  )

  it.live("gives each position once where segments overlap, also where neither holds all", () =>
    withArchive(({ archives, seal }) =>
      Effect.gen(function* () {
        yield* seal(range(1, 100))
        yield* seal(range(50, 150))
        yield* seal(
          [160, 164, 170].map((at) => record(at)),
          { complete: false }
        )
        yield* seal(
          [162, 166].map((at) => record(at)),
          { complete: false }
        )
        yield* seal(range(20, 30))
        const read = yield* positions(archives.read({ archive: "orders" }))
        assert.deepStrictEqual(read, [...numbers(1, 150), 160, 162, 164, 166, 170])
      })
    )
  )

  it.live("reads ranges of positions and of times", () =>
    withArchive(({ archives, seal }) =>
      Effect.gen(function* () {
        for (let at = 0; at < 10; at++) yield* seal(range(at * 100 + 1, at * 100 + 100))
        const archive = "orders"
        const byPosition = yield* positions(archives.read({ archive, from: 95n, to: 205n }))
        assert.deepStrictEqual(byPosition, numbers(95, 205))
        const timeRange = { timeFrom: 95_000n, timeTo: 105_500n }
        const byTime = yield* positions(archives.read({ archive, ...timeRange }))
        assert.deepStrictEqual(byTime, numbers(95, 105))
        const both = yield* positions(archives.read({ archive, ...timeRange, from: 99n }))
        assert.deepStrictEqual(both, numbers(99, 105))
      })
    )
  )

  it.live("joins shards by position or by time", () =>
    withArchive(({ archives, seal }) =>
      Effect.gen(function* () {
        yield* seal([record(1), record(3), record(5)], { shard: "b" })
        yield* seal([record(2), record(4), record(6)], { shard: "a" })
        const archive = "orders"
        assert.deepStrictEqual(yield* positions(archives.read({ archive })), [2, 4, 6, 1, 3, 5])
        const byTime = archives.read({ archive, order: "time" })
        assert.deepStrictEqual(yield* positions(byTime), [1, 2, 3, 4, 5, 6])
        const one = archives.read({ archive, shard: "b" })
        assert.deepStrictEqual(yield* positions(one), [1, 3, 5])
      })
    )
  )

  it.live("survives the loss of a device and a spoilt copy", () =>
    withArchive(({ archives, cluster, seal }) =>
      Effect.gen(function* () {
        yield* seal(range(1, 50))
        spoilDevice(cluster, "d1")
        assert.deepStrictEqual(
          yield* positions(archives.read({ archive: "orders" })),
          numbers(1, 50)
        )
      })
    )
  )

  it.live("of an archive that is not there is an error that names it", () =>
    withArchive(({ archives }) =>
      Effect.gen(function* () {
        const read = yield* Effect.result(positions(archives.read({ archive: "none" })))
        assert.isTrue(Result.isFailure(read) && read.failure.message.includes('"none"'))
      })
    )
  )

  it.live("peer-T29: a walk that misses key ranges is complete later, or a typed failure", () =>
    withArchive(({ archives, cluster, seal }) =>
      Effect.gen(function* () {
        yield* seal(range(1, 10))
        cluster.missingPages = 2
        assert.deepStrictEqual(
          yield* positions(archives.read({ archive: "orders" })),
          numbers(1, 10)
        )
        cluster.missingPages = 1_000
        const read = yield* Effect.result(positions(archives.read({ archive: "orders" })))
        assert.strictEqual(Result.isFailure(read) && read.failure._tag, "CatalogueIncomplete")
      })
    )
  )
})

describe("searching", () => {
  it.live("finds exactly the records with the value, in the time asked for", () =>
    withArchive(({ archives, seal }) =>
      Effect.gen(function* () {
        for (let at = 0; at < 6; at++) yield* seal(range(at * 10 + 1, at * 10 + 10))
        const options = { archive: "orders", tag: { name: "kind", value: "kind-2" } }
        const all = numbers(1, 60).filter((at) => at % 5 === 2)
        assert.deepStrictEqual(yield* positions(archives.search(options)), all)
        assert.strictEqual(yield* archives.searchCount(options), all.length)
        const within = archives.search({ ...options, timeFrom: 15_000n, timeTo: 33_000n })
        assert.deepStrictEqual(yield* positions(within), [17, 22, 27, 32])
        const subject = { archive: "orders", tag: { name: "subject", value: "orders.1" } }
        const bySubject = numbers(1, 60).filter((at) => at % 3 === 1)
        assert.deepStrictEqual(yield* positions(archives.search(subject)), bySubject)
      })
    )
  )

  it.live("reads only segments that can hold the value", () =>
    withArchive(({ archives, seal }) =>
      Effect.gen(function* () {
        for (let at = 0; at < 8; at++) yield* seal([record(at)])
        const tag = { name: "kind", value: "kind-3" }
        const found = yield* archives.searchSegments({ archive: "orders", tag })
        assert.deepStrictEqual(
          found.map(({ first }) => first),
          [3n]
        )
        const none = yield* archives.searchCount({
          archive: "orders",
          tag: { name: "kind", value: "other" }
        })
        assert.strictEqual(none, 0)
      })
    )
  )

  it.live("finds in segments that were sealed before the tag was drawn, and in overfull ones", () =>
    withArchive(({ archives, seal }) =>
      Effect.gen(function* () {
        yield* seal(range(1, 10))
        yield* archives.change("orders", (settings) => ({
          ...settings,
          tagValuesMax: 2,
          tags: [...settings.tags, Result.getOrThrow(parseTagRule("at=json:at,number"))]
        }))
        yield* seal(range(11, 20))
        const search = (name: string, value: string) =>
          positions(archives.search({ archive: "orders", tag: { name, value } }))
        assert.deepStrictEqual(yield* search("at", "5"), [5])
        assert.deepStrictEqual(yield* search("at", "15"), [15])
        assert.deepStrictEqual(yield* search("kind", "kind-4"), [4, 9, 14, 19])
      })
    )
  )

  it.live("says which tags there are when one is unknown, and what a number is", () =>
    withArchive(({ archives }) =>
      Effect.gen(function* () {
        const tag = { name: "colour", value: "red" }
        const unknown = yield* Effect.result(archives.searchCount({ archive: "orders", tag }))
        assert.isTrue(Result.isFailure(unknown) && unknown.failure.message.includes('"kind"'))
      })
    )
  )
})

describe("handling archives", () => {
  it.live("add, list, pause, resume, remove, add again", () =>
    withArchive(({ archive, archives }) =>
      Effect.gen(function* () {
        const again = yield* Effect.result(archives.add({ name: "orders", stream: "X" }))
        assert.isTrue(Result.isFailure(again) && again.failure.message.includes("exists already"))
        yield* archives.add({ name: "events", stream: "EVENTS", settings: { goal: 3 } })
        const listed = yield* Stream.runCollect(archives.list())
        assert.deepStrictEqual(
          listed.map(({ origin, settings }) => [origin.name, settings.goal]),
          [
            ["events", 3],
            ["orders", 2]
          ]
        )
        assert.strictEqual((yield* archives.pause("orders")).status, "paused")
        assert.strictEqual((yield* archives.resume("orders")).status, "active")
        assert.strictEqual((yield* archives.remove("orders")).status, "removed")
        const anew = yield* archives.add({ name: "orders", stream: "ORDERS" })
        assert.isAbove(anew.origin.fileId, archive.origin.fileId)
      })
    )
  )

  it.live("bad settings are refused with what is wrong", () =>
    withArchive(({ archives }) =>
      Effect.gen(function* () {
        const settings = { goal: 99 }
        const added = yield* Effect.result(archives.add({ name: "x", stream: "X", settings }))
        assert.isTrue(Result.isFailure(added) && /goal/.test(added.failure.message))
        const named = yield* Effect.result(archives.add({ name: "not ok", stream: "X" }))
        assert.isTrue(Result.isFailure(named) && /letters, digits/.test(named.failure.message))
      })
    )
  )

  it.live("retention ends old segments and frees their chunks; removal all of them", () =>
    withArchive(({ archives, cluster, seal }) =>
      Effect.gen(function* () {
        yield* archives.change("orders", (settings) => ({ ...settings, keepMs: 60_000 }))
        yield* seal(range(1, 10))
        const now = BigInt(Date.now()) * 1_000_000n
        yield* seal([record(11, { timestamp: now })])
        assert.strictEqual(yield* archives.applyRetention("orders"), 1)
        assert.deepStrictEqual(yield* positions(archives.read({ archive: "orders" })), [11])
        assert.deepStrictEqual(
          cluster.chunks.map(({ isFreed }) => isFreed),
          [true, false]
        )
        yield* archives.remove("orders")
        assert.strictEqual(yield* archives.applyRetention("orders"), 1)
        assert.isTrue(cluster.chunks.every(({ isFreed }) => isFreed))
      })
    )
  )

  it.live("totals are added up over the segments", () =>
    withArchive(({ archives, seal }) =>
      Effect.gen(function* () {
        yield* seal(range(1, 10))
        yield* seal(range(11, 15), { shard: "other" })
        const totals = yield* archives.totals("orders")
        assert.deepInclude(totals, { segments: 2, records: 15, timeMin: 1_000n, timeMax: 15_000n })
        assert.deepStrictEqual(
          totals.shards.map(({ first, last, shard }) => [shard, first, last]),
          [
            ["ORDERS", 1n, 10n],
            ["other", 11n, 15n]
          ]
        )
      })
    )
  )
})
