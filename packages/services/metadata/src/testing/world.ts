/**
 * A metadata service on memory adapters, and chunk servers that are no more than their messages.
 */
import { createHmac } from "node:crypto"
import { crc32 } from "node:zlib"
import { MemoryDisk, memoryJournal, MemoryNetwork } from "@holdfast/adapter-memory"
import { digestAdd, emptyDigest } from "@holdfast/chunk-map"
import type { Messaging } from "@holdfast/messaging"
import type { ChunkDescription, ChunkName } from "@holdfast/storage"
import {
  ClusterId,
  DeviceId,
  encodeCopies,
  HostId,
  makeCaller,
  makeRequestId,
  MetadataChunkServerOperations,
  MetadataOperations,
  signReceipt,
  type Operation,
  ringOfOne
} from "@holdfast/wire"
import { Effect, Exit, Layer, Scope } from "effect"
import { startMetadataService, type MetadataOptions, type MetadataService } from "../index.ts"

/** The keyed hash of the test cluster. */
export const mac = (text: string) => createHmac("sha256", "key").update(text).digest()
/** The test cluster. */
export const clusterId = ClusterId.make("test")

/** Options under which things happen at once. */
export const quickOptions: MetadataOptions = {
  clusterId,
  ring: ringOfOne(mac),
  crc32,
  map: {
    heartbeatMs: 20,
    extensionMs: 0,
    repairDelayMs: 0,
    safeModeThreshold: 1,
    freeBytesMin: 0,
    freeRatioMin: 0,
    massDeathRatio: 1,
    commandResendMs: 200
  },
  service: { tickMs: 10, invariantsMs: 50 }
}

/** A network, a disk for the journal, and how to start the service on them. */
export const makeWorld = Effect.fnUntraced(function* (
  options: { readonly capacity?: number } = {}
) {
  const network = yield* MemoryNetwork.make()
  const disk = yield* MemoryDisk.make(options)
  const ports = Layer.merge(MemoryNetwork.layer(network, "metadata"), memoryJournal(disk))
  const client = MemoryNetwork.layer(network, "client")

  /** Starts the service; `stop` ends it in order. */
  const start = Effect.fnUntraced(function* (changes: Partial<MetadataOptions> = {}) {
    const scope = yield* Scope.make()
    const context = yield* Layer.buildWithScope(Layer.fresh(ports), scope)
    const service: MetadataService = yield* startMetadataService({
      ...quickOptions,
      ...changes,
      map: { ...quickOptions.map, ...changes.map },
      service: { ...quickOptions.service, ...changes.service }
    }).pipe(Effect.provideContext(context), Scope.provide(scope))
    return { ...service, stop: Scope.close(scope, Exit.void) }
  })

  return { network, disk, start, client }
})

const callers = new WeakMap<object, unknown>()

/** The caller of an operation; its codecs are built once. */
const callerOf = <Request, Response>(operation: Operation<Request, Response>) => {
  type Caller = ReturnType<typeof makeCaller<Request, Response>>
  const known = callers.get(operation)
  if (known !== undefined) return known as Caller
  const caller = makeCaller(operation)
  callers.set(operation, caller)
  return caller
}

/** Calls an operation of the metadata service. */
export const ask = <Request, Response>(
  operation: Operation<Request, Response>,
  request: Request,
  options: { readonly requestId?: string; readonly attachment?: Uint8Array } = {}
) =>
  Effect.gen(function* () {
    const requestId = options.requestId ?? (yield* makeRequestId)
    const { attachment } = options
    const { response } = yield* callerOf(operation)({
      cluster: clusterId,
      request,
      deadline: "5 seconds",
      requestId,
      ...(attachment === undefined ? {} : { attachment })
    })
    return response
  })

type HeartbeatResponse = typeof MetadataChunkServerOperations.heartbeat.response.Type
type Outcome = MetadataChunkServerOperations.CommandOutcome

/** A chunk server with one device, that exists only in what it says. */
export interface Puppet {
  readonly deviceId: DeviceId
  readonly copies: Map<string, ChunkDescription>
  readonly beat: (
    outcomes?: ReadonlyArray<Outcome>
  ) => Effect.Effect<HeartbeatResponse, unknown, Messaging>
  /** Says hello and reports what it holds, in parts of the given size; tells of each answer. */
  readonly join: (partMax?: number, onPart?: () => void) => Effect.Effect<void, unknown, Messaging>
  /** Stores a copy; the receipt proves it. */
  readonly store: (chunk: ChunkDescription) => {
    readonly deviceId: string
    readonly epoch: number
    readonly chunk: ChunkDescription
    readonly proof: string
  }
}

const nameOf = ({ fileId, chunkId, version }: ChunkName) => `${fileId}/${chunkId}@${version}`

/** Makes a chunk server that exists only in what it says. */
export const makePuppet = (name: string): Puppet => {
  const deviceId = DeviceId.make(name)
  const hostId = HostId.make(`host-${name}`)
  const copies = new Map<string, ChunkDescription>()
  const who = { hostId, incarnation: 1, url: `memory://${name}` }
  let sequence = 0
  const beat: Puppet["beat"] = (outcomes = []) => {
    let digest = emptyDigest
    for (const { fileId, chunkId, version } of copies.values()) {
      digest = digestAdd(digest, fileId, chunkId, version)
    }
    const figures = { capacity: 1e12, used: 0, available: 1e12, digest }
    return ask(MetadataChunkServerOperations.heartbeat, {
      ...who,
      sequence: ++sequence,
      devices: [{ deviceId, epoch: 1, ...figures }],
      outcomes,
      changes: [],
      goodbye: false
    })
  }
  const join: Puppet["join"] = (partMax = 1_000, onPart = () => undefined) =>
    Effect.gen(function* () {
      const wanted = (yield* beat()).reportsWanted[0]
      if (wanted === undefined) return
      const all = [...copies.values()]
      const parts = Math.max(1, Math.ceil(all.length / partMax))
      for (let part = 0; part < parts; part++) {
        const { lease } = wanted
        const report = { deviceId, epoch: 1, lease, reportId: `report-${lease}`, damaged: 0 }
        yield* ask(
          MetadataChunkServerOperations.online,
          { ...who, ...report, part, last: part === parts - 1 },
          { attachment: encodeCopies(all.slice(part * partMax, (part + 1) * partMax)) }
        )
        onPart()
      }
      yield* beat()
    })
  const store: Puppet["store"] = (chunk) => {
    copies.set(nameOf(chunk), chunk)
    const { fileId, chunkId, version, length, checksum } = chunk
    const said = { fileId, chunkId, version, length, checksum }
    const proof = signReceipt(mac, { clusterId, deviceId, epoch: 1, ...said })
    return { deviceId, epoch: 1, chunk, proof }
  }
  return { deviceId, copies, beat, join, store }
}

/** Waits until the service has left safe mode. */
export const ready = Effect.gen(function* () {
  for (;;) {
    const { safeMode } = yield* ask(MetadataOperations.status, {})
    if (safeMode.phase === "off") return
    yield* Effect.sleep(5)
  }
})

/** Allocates, stores and publishes a chunk on every device that is allotted. */
export const write = Effect.fnUntraced(function* (
  puppets: ReadonlyArray<Puppet>,
  fileId: number,
  options: { readonly requestId?: string; readonly want?: number } = {}
) {
  const want = options.want ?? puppets.length
  const request = { fileId, size: 100, want, min: 1, exclude: [] }
  const granted = yield* ask(MetadataOperations.alloc, request)
  const chunk = { ...granted.chunk, length: 100, checksum: granted.chunk.version }
  const receipts = granted.targets.flatMap(({ deviceId }) =>
    puppets.filter((puppet) => puppet.deviceId === deviceId).map((puppet) => puppet.store(chunk))
  )
  const published = yield* ask(
    MetadataOperations.publish,
    { lease: granted.lease, chunk, goal: want, min: 1, receipts },
    options
  )
  return { granted, chunk, published, receipts }
})
