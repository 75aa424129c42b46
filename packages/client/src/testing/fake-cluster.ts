/**
 * A cluster in memory for tests: the two services' operations over Messaging, and devices behind
 * the chunk transport, with faults that a test plans. It keeps the contracts and nothing else.
 */
import type { CatalogueState, SegmentChunk } from "@holdfast/catalogue"
import {
  ChunkTransport,
  ChunkTransportError,
  type ChunkName,
  type WriteOutcome
} from "@holdfast/storage"
import { Effect, Layer, Option, Stream } from "effect"
import { crc32 } from "../platform.ts"
import { serveFakeMetadata } from "./fake-metadata.ts"
import { serveFakePeers } from "./fake-peers.ts"

/** A device and what is wrong with it. */
export interface FakeDevice {
  readonly id: string
  readonly copies: Map<string, Uint8Array>
  isDown: boolean
  isFull: boolean
  /** Answers reads only after so many milliseconds. */
  delayMs: number
}

/** A committed chunk. */
export interface FakeChunk {
  readonly chunk: SegmentChunk
  readonly goal: number
  readonly holders: ReadonlyArray<string>
  isFreed: boolean
}

/** A cluster's state, open to its test. */
export interface FakeCluster {
  readonly name: string
  readonly devices: ReadonlyArray<FakeDevice>
  readonly chunks: Array<FakeChunk>
  readonly entries: Map<string, CatalogueState>
  /** Operations in the order in which they came. */
  readonly calls: Array<string>
  /** How many of the next calls of an operation are refused for the moment. */
  readonly failNext: Map<string, number>
  readonly reportedBad: Array<string>
  /** How many of the next pages miss all key ranges. */
  missingPages: number
  /** Whether a first device that is down keeps a write from those behind it, as its error. */
  isChain: boolean
  lastFileId: number
  lastVersion: number
}

const keyOf = ({ chunkId, fileId, version }: ChunkName): string => `${fileId}/${chunkId}/${version}`

const refusal = (
  code: ChunkTransportError["code"],
  deviceId: string,
  message: string
): ChunkTransportError => new ChunkTransportError({ code, deviceId, message })

/** A cluster with devices `d1` to `dN`. */
export const makeFakeCluster = (devices: number, name = "test"): FakeCluster => ({
  name,
  devices: Array.from({ length: devices }, (_, at) => ({
    id: `d${at + 1}`,
    copies: new Map(),
    isDown: false,
    isFull: false,
    delayMs: 0
  })),
  chunks: [],
  entries: new Map(),
  calls: [],
  failNext: new Map(),
  reportedBad: [],
  missingPages: 0,
  isChain: false,
  lastFileId: 0,
  lastVersion: 0
})

/** Changes one byte of every copy that a device has. */
export const spoilDevice = (cluster: FakeCluster, id: string): void => {
  const device = cluster.devices.find((one) => one.id === id)
  for (const [key, bytes] of device?.copies ?? []) {
    const spoilt = bytes.slice()
    spoilt[spoilt.length >> 1] = (spoilt[spoilt.length >> 1] ?? 0) ^ 1
    device?.copies.set(key, spoilt)
  }
}

const fakeTransport = (cluster: FakeCluster): ChunkTransport["Service"] => ({
  write: ({ chunk, data, targets }) =>
    Effect.gen(function* () {
      const bytes = yield* Stream.mkUint8Array(data)
      const first = targets[0]?.deviceId ?? ""
      if (cluster.isChain && cluster.devices.some(({ id, isDown }) => id === first && isDown)) {
        const error = refusal("unreachable", first, "no connection")
        return targets.map(({ deviceId }): WriteOutcome => ({ _tag: "Refused", deviceId, error }))
      }
      return targets.map(({ deviceId }): WriteOutcome => {
        const device = cluster.devices.find(({ id }) => id === deviceId)
        if (device === undefined || device.isDown) {
          const error = refusal("unreachable", deviceId, "no connection")
          return { _tag: "Refused", deviceId, error }
        }
        device.copies.set(keyOf(chunk), bytes)
        const description = { ...chunk, length: bytes.length, checksum: crc32(bytes) }
        const receipt = { deviceId, epoch: 1, chunk: description, proof: "fake" }
        return { _tag: "Stored", receipt }
      })
    }),
  read: ({ chunk, range, source }) =>
    Stream.unwrap(
      Effect.gen(function* () {
        const { deviceId } = source
        const device = cluster.devices.find(({ id }) => id === deviceId)
        if (device === undefined || device.isDown) {
          return yield* refusal("unreachable", deviceId, "no connection")
        }
        if (device.delayMs > 0) yield* Effect.sleep(device.delayMs)
        const bytes = device.copies.get(keyOf(chunk))
        if (bytes === undefined) return yield* refusal("not-found", deviceId, "no such copy")
        const { end, start } = Option.getOrElse(range, () => ({ start: 0, end: bytes.length }))
        const half = start + ((end - start) >> 1)
        return Stream.make(bytes.subarray(start, half), bytes.subarray(half, end))
      })
    )
})

/** The cluster behind the ports: needs Messaging, gives the chunk transport. */
export const fakeClusterLayer = (
  cluster: FakeCluster,
  options: { readonly withPeers: boolean } = { withPeers: true }
) =>
  Layer.mergeAll(
    Layer.effectDiscard(serveFakeMetadata(cluster)),
    options.withPeers ? Layer.effectDiscard(serveFakePeers(cluster)) : Layer.empty,
    Layer.succeed(ChunkTransport, fakeTransport(cluster))
  )
