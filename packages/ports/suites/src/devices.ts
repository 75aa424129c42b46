/** What the ChunkDevices contract's tests share: names, bytes, open devices, whole copies. */
import {
  type ByteRange,
  type ChunkDeviceError,
  ChunkDevices,
  type ChunkName,
  type OpenDevice
} from "@holdfast/storage"
import { Context, Effect, Layer, Option, Stream } from "effect"

/** One disk, whose directories can be opened any number of times. */
export interface DeviceStorage {
  readonly layer: Layer.Layer<ChunkDevices>
  /** A directory that does not exist or is empty, one for each name. */
  readonly directory: (name: string) => string
}

/** The cluster that formats and opens devices unless a test says otherwise. */
export const clusterId = "cluster-1"

/** A chunk's name. */
export const chunk = (fileId: number, chunkId = 0, version = 1): ChunkName => ({
  fileId,
  chunkId,
  version
})

/** Bytes without a period of a power of two, so that a misplaced block shows. */
export const patterned = (length: number, seed = 1): Uint8Array => {
  const bytes = new Uint8Array(length)
  for (let index = 0; index < length; index += 1) {
    bytes[index] = (index * 31 + (index >>> 8) * 7 + seed) % 251
  }
  return bytes
}

/** The port of a storage. */
export const devicesOf = (storage: DeviceStorage) =>
  Effect.map(Layer.build(Layer.fresh(storage.layer)), (context) =>
    Context.get(context, ChunkDevices)
  )

/** Formats a directory. */
export const format = (storage: DeviceStorage, name = "d1", cluster = clusterId) =>
  Effect.flatMap(devicesOf(storage), (devices) =>
    devices.format({ directory: storage.directory(name), clusterId: cluster, deviceId: name })
  )

/** Opens a directory until the scope closes. */
export const open = (
  storage: DeviceStorage,
  options: {
    readonly name?: string
    readonly cluster?: string
    readonly reservedBytes?: number
    readonly capacityBytes?: number
  } = {}
) =>
  Effect.flatMap(devicesOf(storage), (devices) =>
    devices.open({
      directory: storage.directory(options.name ?? "d1"),
      clusterId: options.cluster ?? clusterId,
      reservedBytes: options.reservedBytes ?? 0,
      capacityBytes: Option.fromUndefinedOr(options.capacityBytes)
    })
  )

/** Writes a whole copy in parts of an odd size. */
export const store = (
  device: OpenDevice,
  name: ChunkName,
  bytes: Uint8Array,
  expectedBytes = bytes.length
) =>
  Effect.scoped(
    Effect.gen(function* () {
      const writer = yield* device.begin({ chunk: name, expectedBytes })
      const partBytes = 10_007
      for (let start = 0; start < bytes.length; start += partBytes) {
        yield* writer.write(bytes.subarray(start, start + partBytes))
      }
      return yield* writer.finish
    })
  )

/** Reads a copy or a range of it. */
export const load = (device: OpenDevice, name: ChunkName, range?: ByteRange) =>
  Effect.map(
    Stream.runCollect(device.read({ chunk: name, range: Option.fromUndefinedOr(range) })),
    (parts) => new Uint8Array(Buffer.concat(parts))
  )

/** The code of the error with which an act must end. */
export const codeOf = <A, R>(act: Effect.Effect<A, ChunkDeviceError, R>) =>
  Effect.map(Effect.flip(act), (error) => error.code)
