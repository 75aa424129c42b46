/** The ChunkDevices port on memory disks: a directory is a file of its disk. */
import { type ChunkDeviceError, ChunkDevices, type DeviceIdentity } from "@holdfast/storage"
import { DateTime, Effect, Layer, Option } from "effect"
import { epochValue, identityValue, intactBytes } from "./device-cells.ts"
import { countCopies, deviceError, openHeldDevice } from "./memory-chunk-device.ts"
import type { DiskRefusal, FileHold, MemoryDisk } from "./memory-disk.ts"

const deviceFormatVersion = 1

const refuse = (
  directory: string,
  code: ChunkDeviceError["code"],
  message: string
): ChunkDeviceError => deviceError({ identity: { deviceId: directory } }, code, message)

const onDisk = <A, R>(directory: string, act: Effect.Effect<A, DiskRefusal, R>) =>
  Effect.mapError(act, ({ code, message }) => refuse(directory, code, message))

const readIdentity = (hold: FileHold, directory: string) =>
  Effect.gen(function* () {
    yield* onDisk(directory, hold.readable)
    if (!hold.cells.has("identity")) {
      return yield* refuse(directory, "not-formatted", `${directory} holds no device`)
    }
    const bytes = intactBytes(hold.cells, "identity")
    const identity = bytes === undefined ? Option.none() : identityValue.decode(bytes)
    if (Option.isNone(identity)) {
      return yield* refuse(directory, "corrupt", `the identity of ${directory} is damaged`)
    }
    return identity.value
  })

const format = (disk: MemoryDisk): ChunkDevices["Service"]["format"] =>
  Effect.fnUntraced(function* ({ directory, clusterId, deviceId }) {
    const hold = yield* onDisk(directory, disk.hold(directory))
    yield* onDisk(directory, hold.readable)
    if (hold.cells.size > 0) {
      return yield* refuse(directory, "exists", `${directory} is not empty`)
    }
    const created = DateTime.formatIso(yield* DateTime.now)
    const identity: DeviceIdentity = {
      formatVersion: deviceFormatVersion,
      clusterId,
      deviceId,
      created
    }
    yield* onDisk(directory, hold.write([["identity", identityValue.encode(identity)]]))
    return identity
  }, Effect.scoped)

/** The identity of a directory that nobody holds; the hold ends with the look. */
const identify = Effect.fnUntraced(function* (
  disk: MemoryDisk,
  directory: string,
  clusterId: string
) {
  const hold = yield* onDisk(directory, disk.hold(directory))
  const identity = yield* readIdentity(hold, directory)
  if (identity.clusterId !== clusterId) {
    const message = `the device belongs to cluster ${identity.clusterId}, not to ${clusterId}`
    return yield* deviceError({ identity }, "foreign", message)
  }
  return identity
}, Effect.scoped)

const open = (disk: MemoryDisk): ChunkDevices["Service"]["open"] =>
  Effect.fnUntraced(function* ({ directory, clusterId, reservedBytes, capacityBytes }) {
    // A refused opening must not keep the directory held until the caller's scope closes.
    const identity = yield* identify(disk, directory, clusterId)
    const hold = yield* onDisk(directory, disk.hold(directory))
    const stored = intactBytes(hold.cells, "epoch")
    const last = stored === undefined ? Option.none() : epochValue.decode(stored)
    const epoch = Option.getOrElse(last, () => 0) + 1
    yield* onDisk(directory, hold.write([["epoch", epochValue.encode(epoch)]]))
    const device = {
      hold,
      identity,
      diskRoom: Effect.map(disk.usage, ({ capacity, used }) => ({
        capacity,
        free: capacity - used
      })),
      capacityBytes: Option.getOrElse(capacityBytes, () => Number.MAX_SAFE_INTEGER),
      reservedBytes,
      reserved: 0,
      ...countCopies(hold),
      isOpen: true
    }
    return yield* openHeldDevice(device, epoch)
  })

/**
 * Chunk devices on the disk that holds each directory; several directories may share one. A
 * device's content survives a crash of its disk as far as it was synced.
 */
export const memoryChunkDevices = (
  diskOf: (directory: string) => MemoryDisk
): Layer.Layer<ChunkDevices> =>
  Layer.succeed(ChunkDevices, {
    format: (options) => format(diskOf(options.directory))(options),
    open: (options) => open(diskOf(options.directory))(options)
  })
