/** What the tests of the chunk device share: fresh directories, known bytes, short calls. */
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { ChunkDescription, ChunkDeviceError, ChunkName, OpenDevice } from "@holdfast/storage"
import { Effect, Option, type Scope, Stream } from "effect"
import { openDevice } from "../chunk-device.ts"
import { type Disk, nodeDisk } from "../chunk-device-disk.ts"
import { formatDevice } from "../chunk-device-identity.ts"

/** A directory that goes with the scope. */
export const freshDirectory: Effect.Effect<string, never, Scope.Scope> = Effect.acquireRelease(
  Effect.promise(() => mkdtemp(join(tmpdir(), "holdfast-device-"))),
  (directory) => Effect.promise(() => rm(directory, { recursive: true, force: true }))
)

/** How a test opens a device. */
export interface OpenFixture {
  readonly disk?: Disk
  readonly clusterId?: string
  readonly reservedBytes?: number
  readonly capacityBytes?: number
}

/** Formats `directory` as device `d1` of cluster `c1`. */
export const format = (directory: string, disk: Disk = nodeDisk) =>
  formatDevice(disk, { directory, clusterId: "c1", deviceId: "d1" })

/** Opens a device, of cluster `c1` unless told otherwise. */
export const open = (
  directory: string,
  options: OpenFixture = {}
): Effect.Effect<OpenDevice, ChunkDeviceError, Scope.Scope> =>
  openDevice(options.disk ?? nodeDisk, {
    directory,
    clusterId: options.clusterId ?? "c1",
    reservedBytes: options.reservedBytes ?? 0,
    capacityBytes: Option.fromUndefinedOr(options.capacityBytes)
  })

/** A formatted and opened device in a fresh directory. */
export const freshDevice = Effect.fnUntraced(function* (options: OpenFixture = {}) {
  const directory = join(yield* freshDirectory, "d1")
  yield* format(directory)
  return { directory, device: yield* open(directory, options) }
})

/** Names a chunk of file `fileId`. */
export const chunkNamed = (fileId: number, version = 1): ChunkName => ({
  fileId,
  chunkId: 0,
  version
})

/** Bytes that differ from place to place and from seed to seed. */
export const patterned = (length: number, seed = 1): Uint8Array => {
  let state = (seed * 2_654_435_761) >>> 0
  return new Uint8Array(length).map(() => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state >>> 24
  })
}

/** Stores a chunk, in pieces of `pieceBytes`. */
export const store = (
  device: OpenDevice,
  chunk: ChunkName,
  bytes: Uint8Array,
  pieceBytes = 100_000
): Effect.Effect<ChunkDescription, ChunkDeviceError> =>
  Effect.scoped(
    Effect.gen(function* () {
      const writer = yield* device.begin({ chunk, expectedBytes: bytes.length })
      for (let start = 0; start < bytes.length; start += pieceBytes) {
        yield* writer.write(bytes.subarray(start, start + pieceBytes))
      }
      return yield* writer.finish
    })
  )

/** Reads a chunk, or the range from `start` to `end` of it. */
export const load = (
  device: OpenDevice,
  chunk: ChunkName,
  range?: { readonly start: number; readonly end: number }
): Effect.Effect<Uint8Array, ChunkDeviceError> =>
  device.read({ chunk, range: Option.fromUndefinedOr(range) }).pipe(
    Stream.runCollect,
    Effect.map((pieces) => new Uint8Array(Buffer.concat(pieces)))
  )

/** The code that an act is refused with. */
export const codeOf = <A, R>(
  act: Effect.Effect<A, ChunkDeviceError, R>
): Effect.Effect<ChunkDeviceError["code"] | "none", never, R> =>
  act.pipe(
    Effect.as("none" as const),
    Effect.catch((error) => Effect.succeed(error.code))
  )
