/** A cluster for tests of the chunk server: memory network, memory disks, the metadata double. */
import { createHmac } from "node:crypto"
import {
  MemoryChunkPath,
  memoryChunkDevices,
  MemoryDisk,
  MemoryNetwork
} from "@holdfast/adapter-memory"
import { Messaging } from "@holdfast/messaging"
import {
  ChunkDevices,
  type ChunkName,
  type ChunkTarget,
  ChunkTransport,
  type WriteOutcome
} from "@holdfast/storage"
import { type CapabilityRight, DeviceId, HostId, ringOfOne, signCapability } from "@holdfast/wire"
import { Context, Duration, Effect, Layer, Option, Stream } from "effect"
import { type ChunkServerSettings, startChunkServer } from "../index.ts"
import { startMetadata } from "./metadata-double.ts"

/** The cluster of the tests. */
export const clusterId = "c1"

/** The cluster's key. */
export const mac = (text: string): Uint8Array =>
  new Uint8Array(createHmac("sha256", "key").update(text).digest())

/** Names a chunk. */
export const chunkNamed = (fileId: number, version = 1): ChunkName => ({
  fileId,
  chunkId: 0,
  version
})

/** Bytes that differ from place to place and from seed to seed. */
export const patterned = (length: number, seed = 1): Uint8Array =>
  new Uint8Array(length).map((_, index) => (index * 31 + (index >>> 8) + seed * 7) & 0xff)

/** A capability as the metadata service gives it. */
export const capability = (
  deviceId: string,
  chunk: ChunkName,
  right: CapabilityRight,
  secondsLeft = 60
): string =>
  signCapability(mac, {
    clusterId,
    deviceId,
    ...chunk,
    right,
    expires: Math.floor(Date.now() / 1000) + secondsLeft
  })

/** Times that suit a test. */
export const quickSettings: Partial<ChunkServerSettings> = {
  heartbeat: Duration.millis(20),
  backoffMax: Duration.millis(60),
  callDeadline: Duration.millis(500),
  reopen: Duration.millis(30),
  transferDeadline: Duration.seconds(2)
}

/** Waits, for 40 seconds at most, until a condition holds. */
export const eventually = (condition: () => boolean): Effect.Effect<void> =>
  Effect.suspend(() =>
    condition() ? Effect.void : Effect.andThen(Effect.sleep("2 millis"), eventually(condition))
  ).pipe(Effect.timeout("40 seconds"), Effect.orDie)

/** One chunk server's machine. */
export interface Machine {
  readonly name: string
  readonly disk: MemoryDisk
  readonly devices: (typeof ChunkDevices)["Service"]
  readonly context: Context.Context<Messaging | ChunkTransport | ChunkDevices>
}

/** The directory of a device on its machine's disk. */
export const directoryOf = (deviceId: string): string => `/disk/${deviceId}`

/** Numbers in the keys of a memory disk's cells have this many digits. */
const keyDigits = String(Number.MAX_SAFE_INTEGER).length

/** Changes a byte in the first block of a copy, behind the device's back. */
export const damage = (disk: MemoryDisk, deviceId: string, chunk: ChunkName) => {
  const number = (value: number) => String(value).padStart(keyDigits, "0")
  const name = [chunk.fileId, chunk.chunkId, chunk.version].map(number).join("/")
  const key = `c/${name}/block/${number(0)}`
  return disk.apply({ _tag: "FlipBit", file: directoryOf(deviceId), key, byte: 5, bit: 3 })
}

/** Makes a network, its metadata service and a client. */
export const makeCluster = Effect.gen(function* () {
  const network = yield* MemoryNetwork.make({ maxPayloadBytes: 8_192 })
  const path = MemoryChunkPath.make(network)
  const metadata = yield* Layer.build(MemoryNetwork.layer(network, "metadata")).pipe(
    Effect.flatMap((context) => Effect.provide(startMetadata(clusterId), context))
  )
  const transport = Context.get(
    yield* Layer.build(MemoryChunkPath.layerTransport(path, "client")),
    ChunkTransport
  )
  const machine = Effect.fnUntraced(function* (name: string) {
    const disk = yield* MemoryDisk.make()
    const context = yield* Layer.build(
      Layer.mergeAll(
        memoryChunkDevices(() => disk),
        MemoryNetwork.layer(network, name),
        MemoryChunkPath.layerTransport(path, name),
        MemoryChunkPath.layerEndpoint(path, name)
      )
    )
    const devices = Context.get(context, ChunkDevices)
    return { name, disk, devices, context }
  })
  const start = (
    on: Effect.Success<ReturnType<typeof machine>>,
    deviceIds: ReadonlyArray<string>,
    options: {
      readonly settings?: Partial<ChunkServerSettings>
      readonly capacityBytes?: number
      readonly incarnation?: number
      readonly rack?: string
    } = {}
  ) =>
    startChunkServer({
      clusterId,
      hostId: HostId.make(on.name),
      incarnation: options.incarnation ?? 1,
      ring: ringOfOne(mac),
      listen: { host: on.name, port: 0 },
      ...(options.rack === undefined ? {} : { rack: options.rack }),
      devices: deviceIds.map((deviceId) => ({
        directory: directoryOf(deviceId),
        reservedBytes: 0,
        capacityBytes: Option.fromUndefinedOr(options.capacityBytes)
      })),
      settings: { ...quickSettings, ...options.settings }
    }).pipe(Effect.provide(on.context))
  /** A machine with formatted devices and a server that has reported them. */
  const startServer = Effect.fnUntraced(function* (
    name: string,
    deviceIds: ReadonlyArray<string>,
    options: Parameters<typeof start>[2] = {}
  ) {
    const on = yield* machine(name)
    for (const deviceId of deviceIds) yield* formatOn(on.devices, deviceId)
    const server = yield* start(on, deviceIds, options)
    yield* eventually(() => deviceIds.every((deviceId) => metadata.reports.has(deviceId)))
    return { ...on, server }
  })
  return { network, metadata, transport, machine, start, startServer }
})

/** A cluster for tests. */
export type Cluster = Effect.Success<typeof makeCluster>

/** Formats a device on a machine's disk. */
export const formatOn = (devices: (typeof ChunkDevices)["Service"], deviceId: string) =>
  devices.format({ directory: directoryOf(deviceId), clusterId, deviceId })

/** A device on a server as a target. */
export const target = (
  at: { readonly name: string; readonly server: { readonly url: string } },
  deviceId: string,
  chunk: ChunkName,
  right: CapabilityRight
): ChunkTarget => ({
  deviceId: DeviceId.make(deviceId),
  hostId: at.name,
  url: at.server.url,
  capability: capability(deviceId, chunk, right)
})

/** Writes a chunk to targets. */
export const write = (
  cluster: Cluster,
  chunk: ChunkName,
  bytes: Uint8Array,
  targets: ReadonlyArray<ChunkTarget>
): Effect.Effect<ReadonlyArray<WriteOutcome>> =>
  cluster.transport.write({
    chunk,
    length: bytes.length,
    targets,
    data: Stream.fromIterable(
      Array.from({ length: Math.ceil(bytes.length / 10_000) }, (_, index) =>
        bytes.subarray(index * 10_000, (index + 1) * 10_000)
      )
    ),
    deadline: "5 seconds"
  })

/** Reads a chunk from one holder. */
export const read = (cluster: Cluster, chunk: ChunkName, source: ChunkTarget) =>
  cluster.transport.read({ chunk, source, range: Option.none(), deadline: "5 seconds" }).pipe(
    Stream.runCollect,
    Effect.map((pieces) => new Uint8Array(Buffer.concat(pieces)))
  )

/** What became of each target, in short. */
export const summary = (outcomes: ReadonlyArray<WriteOutcome>): ReadonlyArray<string> =>
  outcomes.map((outcome) =>
    outcome._tag === "Stored"
      ? `${outcome.receipt.deviceId} stored`
      : `${outcome.deviceId} ${outcome.error.code}`
  )
