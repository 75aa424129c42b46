/**
 * Repair: 755 small chunks at goal 2 on four chunk servers with plain files and HTTP between them;
 * one server stops, and from the first copy that is planned the clock runs until every chunk has
 * two copies again. Then it returns with what it held, and from its start the clock runs until no
 * chunk has a copy too many. All of it is one process, with the pace of ticks and heartbeats that a
 * cluster has by default. The baseline of the same run is the rate at which a client's copies were
 * written.
 */
import { createHmac } from "node:crypto"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { crc32 } from "node:zlib"
import { layerChunkDevices } from "@holdfast/adapter-file"
import { layerChunkEndpoint, layerChunkTransport } from "@holdfast/adapter-http"
import { MemoryDisk, memoryJournal, MemoryNetwork } from "@holdfast/adapter-memory"
import { startMetadataService } from "@holdfast/service-metadata"
import { ChunkDevices, ChunkTransport } from "@holdfast/storage"
import { figuresOf } from "@holdfast/suites/figures"
import {
  ClusterId,
  HostId,
  makeCaller,
  makeRequestId,
  MetadataOperations,
  type Operation,
  ringOfOne
} from "@holdfast/wire"
import { Effect, Exit, Layer, Logger, Option, Scope, Stream } from "effect"
import { startChunkServer } from "./index.ts"

const say = figuresOf("repair")
const chunks = 755
const chunkBytes = 8_192
const clusterId = "bench"
/** What MooseFS takes for the repair on the same machine, in seconds, and 77 s for the surplus. */
const bar = 2.2
const surplusBar = 10
const names = ["a", "b", "c", "d"]
const mac = (text: string) =>
  new Uint8Array(createHmac("sha256", "bench key").update(text).digest())

const ask = <Request, Response>(operation: Operation<Request, Response>, request: Request) =>
  Effect.flatMap(makeRequestId, (requestId) =>
    makeCaller(operation)({ cluster: clusterId, request, deadline: "10 seconds", requestId })
  ).pipe(Effect.map(({ response }) => response))

const startServer = Effect.fnUntraced(function* (
  network: MemoryNetwork,
  folder: string,
  name: string,
  incarnation = 1
) {
  const scope = yield* Scope.fork(yield* Scope.Scope)
  const context = yield* Layer.build(
    Layer.mergeAll(
      layerChunkDevices,
      layerChunkEndpoint,
      layerChunkTransport,
      MemoryNetwork.layer(network, name)
    )
  )
  const directory = join(folder, name)
  return yield* Effect.gen(function* () {
    if (incarnation === 1) {
      yield* (yield* ChunkDevices).format({ directory, clusterId, deviceId: name })
    }
    yield* startChunkServer({
      clusterId,
      hostId: HostId.make(`host-${name}`),
      incarnation,
      ring: ringOfOne(mac),
      listen: { host: "127.0.0.1", port: 0 },
      devices: [{ directory, reservedBytes: 0, capacityBytes: Option.none() }]
    })
    return { stop: Scope.close(scope, Exit.void) }
  }).pipe(Effect.provideContext(context), Scope.provide(scope))
})

const writeOne = Effect.fnUntraced(function* (fileId: number) {
  const transport = yield* ChunkTransport
  const room = { fileId, size: chunkBytes, want: 2, min: 2, exclude: [] }
  const { chunk, lease, targets } = yield* ask(MetadataOperations.alloc, room)
  const bytes = new Uint8Array(chunkBytes).fill(chunk.version & 0xff)
  const outcomes = yield* transport.write({
    chunk,
    length: chunkBytes,
    targets,
    data: Stream.make(bytes),
    deadline: "10 seconds"
  })
  const receipts = outcomes.flatMap((one) => (one._tag === "Stored" ? [one.receipt] : []))
  yield* ask(MetadataOperations.publish, {
    lease,
    chunk: { ...chunk, length: chunkBytes, checksum: crc32(bytes) },
    goal: 2,
    min: 2,
    receipts
  })
})

const writeAll = Effect.gen(function* () {
  const { fileId } = yield* ask(MetadataOperations.createFile, {})
  yield* Effect.forEach(Array.from({ length: chunks }), () => writeOne(fileId), {
    concurrency: 16,
    discard: true
  })
})

type Status = typeof MetadataOperations.status.response.Type

/** Seconds until a condition on the numbers of the cluster holds. */
const until = (holds: (status: Status) => boolean) =>
  Effect.gen(function* () {
    const started = performance.now()
    while (!holds(yield* ask(MetadataOperations.status, {}))) yield* Effect.sleep(20)
    return (performance.now() - started) / 1_000
  })

const isWhole = ({ chunks: { belowGoal } }: Status) => belowGoal === 0
const isTrimmed = ({ chunks: { atGoal }, devices, pending }: Status) =>
  devices.live === names.length && atGoal === chunks && pending.deletions === 0

const bench = Effect.gen(function* () {
  const folder = yield* Effect.acquireRelease(
    Effect.promise(() => mkdtemp(join(tmpdir(), "holdfast-repair-bench-"))),
    (path) => Effect.promise(() => rm(path, { recursive: true }))
  )
  const network = yield* MemoryNetwork.make()
  const disk = yield* MemoryDisk.make()
  const ports = Layer.merge(MemoryNetwork.layer(network, "metadata"), memoryJournal(disk))
  yield* startMetadataService({
    clusterId: ClusterId.make(clusterId),
    ring: ringOfOne(mac),
    crc32,
    map: {
      extensionMs: 0,
      repairDelayMs: 0,
      freeBytesMin: 0,
      freeRatioMin: 0,
      devicesMin: 4,
      staleAfterMs: 2_000
    }
  }).pipe(Effect.provideContext(yield* Layer.build(ports)))
  const servers = yield* Effect.forEach(names, (name) => startServer(network, folder, name))
  const client = Layer.merge(MemoryNetwork.layer(network, "client"), layerChunkTransport)
  yield* Effect.gen(function* () {
    while ((yield* ask(MetadataOperations.status, {})).safeMode.phase !== "off") {
      yield* Effect.sleep(20)
    }
    const started = performance.now()
    yield* writeAll
    const wrote = (performance.now() - started) / 1_000
    yield* until(isWhole)
    yield* servers[3]!.stop
    yield* until((status) => !isWhole(status) && status.pending.copies > 0)
    const copies = (yield* ask(MetadataOperations.status, {})).chunks.belowGoal
    const used = process.cpuUsage()
    const repaired = yield* until(isWhole)
    const { user, system } = process.cpuUsage(used)
    const ratio = copies / repaired / ((2 * chunks) / wrote)
    const what = `${chunks} chunks after one of 4 servers is lost`
    say({ what, value: repaired, unit: "s", bar: { atMost: bar } })
    say({ what: "  copies made", value: copies, unit: "copies" })
    say({ what: "  against the rate at which copies are written", value: ratio, unit: "times" })
    say({ what: "  processor time", value: (user + system) / 1e6, unit: "s of CPU" })
    yield* startServer(network, folder, names[3] ?? "", 2)
    const trimmed = yield* until(isTrimmed)
    const surplus = { what: "the surplus trimmed after it returned", value: trimmed, unit: "s" }
    say({ ...surplus, bar: { atMost: surplusBar } })
  }).pipe(Effect.provide(client))
}).pipe(Effect.scoped, Effect.provide(Logger.layer([])))

await Effect.runPromise(bench)
