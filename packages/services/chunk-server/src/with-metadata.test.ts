import { crc32 } from "node:zlib"
import { assert, describe, it } from "@effect/vitest"
import {
  MemoryChunkPath,
  memoryChunkDevices,
  MemoryDisk,
  memoryJournal,
  MemoryNetwork
} from "@holdfast/adapter-memory"
import { startMetadataService } from "@holdfast/service-metadata"
import { ChunkDevices, ChunkTransport } from "@holdfast/storage"
import {
  ClusterId,
  HostId,
  makeCaller,
  makeRequestId,
  MetadataOperations,
  type Operation,
  ringOfOne
} from "@holdfast/wire"
import { Context, Effect, Exit, Layer, Option, Scope, Stream } from "effect"
import { type ChunkServer, startChunkServer } from "./index.ts"
import {
  clusterId,
  damage,
  directoryOf,
  mac,
  patterned,
  quickSettings
} from "./testing/cluster-fixture.ts"

const bytes = patterned(150_000)

/** A whole cluster in memory: the metadata service, chunk servers of one device each, a client. */
const makeWholeCluster = Effect.gen(function* () {
  const network = yield* MemoryNetwork.make()
  const path = MemoryChunkPath.make(network)
  const journal = yield* MemoryDisk.make()
  const metadata = yield* Layer.build(
    Layer.merge(MemoryNetwork.layer(network, "metadata"), memoryJournal(journal))
  )
  yield* startMetadataService({
    clusterId: ClusterId.make(clusterId),
    ring: ringOfOne(mac),
    crc32,
    map: {
      heartbeatMs: 20,
      staleAfterMs: 300,
      deadAfterMs: 600,
      extensionMs: 0,
      repairDelayMs: 0,
      safeModeThreshold: 1,
      freeBytesMin: 0,
      freeRatioMin: 0,
      massDeathRatio: 1,
      commandResendMs: 200
    },
    service: { tickMs: 10, invariantsMs: 50 }
  }).pipe(Effect.provideContext(metadata))
  const client = yield* Layer.build(
    Layer.merge(
      MemoryNetwork.layer(network, "client"),
      MemoryChunkPath.layerTransport(path, "client")
    )
  )
  const transport = Context.get(client, ChunkTransport)
  const ask = <Request, Response>(operation: Operation<Request, Response>, request: Request) =>
    Effect.flatMap(makeRequestId, (requestId) =>
      makeCaller(operation)({ cluster: clusterId, request, deadline: "5 seconds", requestId })
    ).pipe(
      Effect.map(({ response }) => response),
      Effect.provideContext(client)
    )
  const machine = Effect.fnUntraced(function* (name: string, deviceId = name) {
    const disk = yield* MemoryDisk.make()
    const context = yield* Layer.build(
      Layer.mergeAll(
        memoryChunkDevices(() => disk),
        MemoryNetwork.layer(network, name),
        MemoryChunkPath.layerTransport(path, name),
        MemoryChunkPath.layerEndpoint(path, name)
      )
    )
    const directory = directoryOf(deviceId)
    yield* Context.get(context, ChunkDevices).format({ directory, clusterId, deviceId })
    let incarnation = 0
    const start = Effect.gen(function* () {
      const scope = yield* Scope.fork(yield* Scope.Scope)
      incarnation += 1
      const server = yield* startChunkServer({
        clusterId,
        hostId: HostId.make(`host-${name}`),
        incarnation,
        ring: ringOfOne(mac),
        listen: { host: name, port: 0 },
        devices: [{ directory, reservedBytes: 0, capacityBytes: Option.some(1e9) }],
        settings: quickSettings
      }).pipe(Effect.provideContext(context), Scope.provide(scope))
      return { ...server, stop: Scope.close(scope, Exit.void) }
    })
    return { name, disk, start }
  })
  return { ask, transport, machine }
})

type WholeCluster = Effect.Success<typeof makeWholeCluster>

/** Tries again until it succeeds, for 10 seconds at most. */
const eventually = <A, E, R>(act: Effect.Effect<A, E, R>) =>
  act.pipe(
    Effect.catch((error) => Effect.andThen(Effect.sleep("10 millis"), Effect.fail(error))),
    Effect.eventually,
    Effect.timeout("40 seconds")
  )

const store = (cluster: WholeCluster) =>
  Effect.gen(function* () {
    const { fileId } = yield* cluster.ask(MetadataOperations.createFile, {})
    const { lease, chunk, targets } = yield* cluster.ask(MetadataOperations.alloc, {
      fileId,
      size: bytes.length,
      want: 2,
      min: 2,
      exclude: []
    })
    const outcomes = yield* cluster.transport.write({
      chunk,
      length: bytes.length,
      targets,
      data: Stream.make(bytes),
      deadline: "5 seconds"
    })
    const receipts = outcomes.flatMap((outcome) =>
      outcome._tag === "Stored" ? [outcome.receipt] : []
    )
    assert.strictEqual(receipts.length, 2)
    const described = { ...chunk, length: bytes.length, checksum: crc32(bytes) }
    yield* cluster.ask(MetadataOperations.publish, {
      lease,
      chunk: described,
      goal: 2,
      min: 2,
      receipts
    })
    return chunk
  })

const holders = (
  cluster: WholeCluster,
  chunk: { readonly fileId: number; readonly chunkId: number }
) =>
  cluster
    .ask(MetadataOperations.locate, { fileId: chunk.fileId, chunkId: chunk.chunkId })
    .pipe(Effect.map((location) => location.holders))

const assertReadable = Effect.fnUntraced(function* (
  cluster: WholeCluster,
  chunk: Effect.Success<ReturnType<typeof store>>
) {
  for (const source of yield* holders(cluster, chunk)) {
    const pieces = yield* cluster.transport
      .read({ chunk, source, range: Option.none(), deadline: "5 seconds" })
      .pipe(Stream.runCollect)
    assert.deepStrictEqual(new Uint8Array(Buffer.concat(pieces)), bytes)
  }
})

const namesOf = (targets: ReadonlyArray<{ readonly deviceId: string }>) =>
  targets.map(({ deviceId }) => deviceId).toSorted()

/** Waits until the holders satisfy a condition. */
const holdersBecome = (
  cluster: WholeCluster,
  chunk: { readonly fileId: number; readonly chunkId: number },
  isRight: (names: ReadonlyArray<string>) => boolean
) =>
  eventually(
    Effect.flatMap(holders(cluster, chunk), (found) =>
      isRight(namesOf(found)) ? Effect.succeed(namesOf(found)) : Effect.fail("not yet")
    )
  )

/** Copies on all devices; fails while a device is not served. */
const copiesOn = (servers: ReadonlyArray<ChunkServer>) =>
  Effect.forEach(servers, ({ status }) => status).pipe(
    Effect.map((all) => all.flatMap(({ devices }) => devices)),
    Effect.filterOrFail((devices) => devices.every(({ state }) => state === "serving")),
    Effect.map((devices) => devices.reduce((sum, { copies }) => sum + copies, 0))
  )

describe("chunk servers under the metadata service", () => {
  it.live("metadata-B22: a server that dies is replaced; when it returns, surplus goes", () =>
    Effect.gen(function* () {
      const cluster = yield* makeWholeCluster
      const machines = yield* Effect.forEach(["d1", "d2", "d3"], (name) => cluster.machine(name))
      const running = new Map(
        yield* Effect.forEach(machines, (each) =>
          Effect.map(each.start, (server) => [each.name, { each, server }] as const)
        )
      )
      const chunk = yield* eventually(store(cluster))
      yield* assertReadable(cluster, chunk)
      const [lost = ""] = namesOf(yield* holders(cluster, chunk))
      const dead = running.get(lost)
      yield* dead?.server.stop ?? Effect.void
      yield* holdersBecome(cluster, chunk, (names) => names.length === 2 && !names.includes(lost))
      yield* assertReadable(cluster, chunk)
      if (dead === undefined) return assert.fail("no holder")
      running.set(lost, { each: dead.each, server: yield* dead.each.start })
      const servers = [...running.values()].map(({ server }) => server)
      yield* eventually(
        Effect.flatMap(copiesOn(servers), (copies) =>
          copies === 2 ? Effect.void : Effect.fail("not yet")
        )
      )
      yield* assertReadable(cluster, chunk)
    })
  )

  it.live("metadata-B31: a damaged copy is found by a read, replaced, then removed", () =>
    Effect.gen(function* () {
      const cluster = yield* makeWholeCluster
      const machines = yield* Effect.forEach(["d1", "d2", "d3"], (name) => cluster.machine(name))
      yield* Effect.forEach(machines, (each) => each.start)
      const chunk = yield* eventually(store(cluster))
      const [source] = yield* holders(cluster, chunk)
      const bad = machines.find(({ name }) => name === source?.deviceId)
      if (source === undefined || bad === undefined) return assert.fail("no holder")
      yield* damage(bad.disk, bad.name, chunk)
      const error = yield* cluster.transport
        .read({ chunk, source, range: Option.none(), deadline: "5 seconds" })
        .pipe(Stream.runDrain, Effect.flip)
      assert.strictEqual(error.code, "corrupt")
      yield* holdersBecome(
        cluster,
        chunk,
        (names) => names.length === 2 && !names.includes(bad.name)
      )
      yield* assertReadable(cluster, chunk)
    })
  )

  it.live(
    "metadata-B76: of two servers with one device id the first is served, the clone is not",
    () =>
      Effect.gen(function* () {
        const cluster = yield* makeWholeCluster
        const first = yield* cluster.machine("d1")
        const other = yield* cluster.machine("d2")
        const servers = [yield* first.start, yield* other.start]
        const chunk = yield* eventually(store(cluster))
        const clone = yield* cluster.machine("d9", "d1")
        const second = yield* clone.start
        yield* eventually(
          Effect.flatMap(second.status, ({ devices }) =>
            devices[0]?.state === "refused" ? Effect.void : Effect.fail("not yet")
          )
        )
        assert.match((yield* second.status).devices[0]?.reason ?? "", /live on host host-d1/)
        assert.strictEqual(yield* copiesOn(servers), 2)
        yield* assertReadable(cluster, chunk)
      })
  )

  it.live("what is freed is removed from every device", () =>
    Effect.gen(function* () {
      const cluster = yield* makeWholeCluster
      const machines = yield* Effect.forEach(["d1", "d2"], (name) => cluster.machine(name))
      const servers = yield* Effect.forEach(machines, (each) => each.start)
      const chunk = yield* eventually(store(cluster))
      yield* cluster.ask(MetadataOperations.free, { chunks: [chunk] })
      yield* eventually(
        Effect.flatMap(copiesOn(servers), (copies) =>
          copies === 0 ? Effect.void : Effect.fail("not yet")
        )
      )
    })
  )
})
