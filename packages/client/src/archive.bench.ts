/**
 * Reading an archive back, and searching 1,000,000 records in 1,000 segments for 10 matches: three
 * real peers, everything in one process and in memory.
 *
 * Run: node --conditions=@holdfast/source packages/client/src/archive.bench.ts
 */
import { MemoryDisk, MemoryNetwork, memoryPartitionStore } from "@holdfast/adapter-memory"
import { makeCatalogue, parseTagRule } from "@holdfast/catalogue"
import { PeerId } from "@holdfast/keyspace"
import { decodeSegment } from "@holdfast/segment"
import { hostApplication, startPeer } from "@holdfast/service-peer"
import { figuresOf } from "@holdfast/suites/figures"
import { ClusterId } from "@holdfast/wire"
import { Effect, Layer, References, Result, Scope, Stream } from "effect"
import { ArchiveClient, cataloguePlatform, clientLayer, segmentReading } from "./index.ts"
import { fakeClusterLayer, makeFakeCluster } from "./testing/fake-cluster.ts"
import { sealRecords } from "./testing/seal-records.ts"

const segments = 1_000
const perSegment = 1_000
const encoder = new TextEncoder()
const pad = "x".repeat(180)

/** One record in fifty has a reference; each reference is in ten segments, once in each. */
const recordAt = (segment: number, index: number) => {
  const position = segment * perSegment + index
  const reference = index % 50 === 0 ? `"ref":"ref-${segment % 100}-${index / 50}",` : ""
  return {
    position: BigInt(position),
    part: 0,
    timestamp: BigInt(position) * 1_000n,
    subject: encoder.encode("orders.eu"),
    headers: [],
    data: encoder.encode(`{"at":${position},${reference}"text":"${pad}"}`)
  }
}

const say = figuresOf("client")

const timed = Effect.fnUntraced(function* <A, E, R>(run: Effect.Effect<A, E, R>) {
  const start = performance.now()
  const value = yield* run
  return { value, ms: performance.now() - start }
})

const startPeers = Effect.fnUntraced(function* (network: MemoryNetwork) {
  const scope = yield* Scope.Scope
  const founders = ["a", "b", "c"].map((name) => ({ peer: PeerId.make(name) }))
  for (const { peer } of founders) {
    const disk = yield* MemoryDisk.make()
    const ports = Layer.merge(MemoryNetwork.layer(network, peer), memoryPartitionStore(disk))
    const context = yield* Layer.buildWithScope(Layer.fresh(ports), scope)
    const applications = [hostApplication(makeCatalogue(cataloguePlatform))]
    yield* startPeer({
      cluster: ClusterId.make("test"),
      peer,
      founders,
      applications
    }).pipe(Effect.provideContext(context))
  }
})

const bench = Effect.gen(function* () {
  const archives = yield* ArchiveClient
  const tags = [Result.getOrThrow(parseTagRule("ref=json:ref"))]
  yield* archives.add({ name: "orders", stream: "ORDERS", settings: { tags } })
  const archive = yield* archives.show("orders")
  yield* Effect.forEach(
    Array.from({ length: segments }, (_, at) => at),
    (segment) => {
      const records = Array.from({ length: perSegment }, (_, index) => recordAt(segment, index))
      return sealRecords({ archive, shard: "ORDERS", records })
    },
    { concurrency: 8, discard: true }
  )
  const search = archives.searchCount({
    archive: "orders",
    tag: { name: "ref", value: "ref-42-7" }
  })
  yield* search
  const best = yield* Effect.forEach([1, 2, 3, 4, 5], () => timed(search))
  const searchMs = Math.min(...best.map(({ ms }) => ms))
  const empty = yield* timed(
    archives.searchCount({ archive: "orders", tag: { name: "ref", value: "none" } })
  )
  say({
    what: "search 1,000,000 records in 1,000 segments, 10 matches",
    value: searchMs,
    unit: "ms",
    bar: { atMost: 50 }
  })
  say({ what: "  against a search without a match", value: searchMs / empty.ms, unit: "times" })
  say({
    what: "  matches found",
    value: Math.min(...best.map(({ value }) => value)),
    unit: "records"
  })
  const read = yield* timed(
    Stream.runFold(
      archives.readBatches({ archive: "orders" }),
      () => 0,
      (sum, { records }) => sum + records.length
    )
  )
  say({
    what: "read back in order, batches",
    value: (read.value / read.ms) * 1_000,
    unit: "records a second",
    bar: { atLeast: 150_000 }
  })
  say({ what: "  read back", value: read.value, unit: "records" })
  const each = yield* timed(Stream.runCount(archives.read({ archive: "orders", to: 199_999n })))
  say({
    what: "read back in order, one by one",
    value: (each.value / each.ms) * 1_000,
    unit: "records a second",
    bar: { atLeast: 150_000 }
  })
  say({
    what: "  batches against one by one",
    value: read.value / read.ms / (each.value / each.ms),
    unit: "times"
  })
})

const program = Effect.gen(function* () {
  const network = yield* MemoryNetwork.make({ maxPayloadBytes: 8_388_608 })
  yield* startPeers(network)
  const cluster = makeFakeCluster(3)
  const services = fakeClusterLayer(cluster, { withPeers: false }).pipe(
    Layer.provide(MemoryNetwork.layer(network, "metadata"))
  )
  const client = clientLayer({ cluster: "test", writeDeadline: "60 seconds" }).pipe(
    Layer.provide(MemoryNetwork.layer(network, "client")),
    Layer.provide(services)
  )
  yield* bench.pipe(Effect.provide(client))
  const [file] = cluster.devices[0]?.copies.values() ?? []
  if (file !== undefined) {
    const start = performance.now()
    for (let turn = 0; turn < 50; turn++) Result.getOrThrow(decodeSegment(file, segmentReading))
    const rate = (50 * perSegment) / ((performance.now() - start) / 1_000)
    say({ what: "decode alone, the baseline of reading", value: rate, unit: "records a second" })
  }
}).pipe(Effect.scoped, Effect.provideService(References.MinimumLogLevel, "Error"))

await Effect.runPromise(program)
