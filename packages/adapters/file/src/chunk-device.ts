/**
 * The ChunkDevices port on plain files: one directory on one disk.
 *
 *     open ─▶ identity ─▶ claim (lock and epoch) ─▶ parts removed, copies counted ─▶ serves
 *
 * What it adds to the port's promises:
 * 1. Nothing is written before the identity was read; no folder above `chunks` is ever made.
 * 2. A crash at any step leaves each copy whole or absent; parts are removed at the next opening.
 * 3. Copies with damaged names, headers or lengths are listed as such, never served, and removed
 *    only by `remove`.
 * 4. A holder that lost its claim, or whose disk vanished, answers `unavailable` and writes
 *    nothing.
 */
import { join } from "node:path"
import { type ChunkDeviceError, ChunkDevices, type OpenDevice } from "@holdfast/storage"
import { Effect, Layer, Option, type Scope, Semaphore, Stream } from "effect"
import { lengthOfFile } from "./block-file-format.ts"
import { claimDevice } from "./chunk-device-claim.ts"
import { describeCopy, readCopy, verifyCopy } from "./chunk-device-copy.ts"
import { type Disk, nodeDisk } from "./chunk-device-disk.ts"
import { attempt, refusal } from "./chunk-device-errors.ts"
import { formatDevice, readIdentity } from "./chunk-device-identity.ts"
import { deviceLayout } from "./chunk-device-layout.ts"
import { copySizes, listCopies, syncFolders } from "./chunk-device-list.ts"
import { removeCopy } from "./chunk-device-remove.ts"
import { deviceRoom } from "./chunk-device-room.ts"
import { folderSync } from "./chunk-device-sync.ts"
import { beginCopy, type WritableDevice } from "./chunk-device-write.ts"

interface OpenOptions {
  readonly directory: string
  readonly clusterId: string
  readonly reservedBytes: number
  readonly capacityBytes: Option.Option<number>
}

const identify = Effect.fnUntraced(function* (disk: Disk, options: OpenOptions) {
  const layout = deviceLayout(options.directory)
  const identity = yield* readIdentity(disk, layout)
  if (identity.clusterId !== options.clusterId) {
    return yield* refusal(
      identity,
      "foreign",
      `the device belongs to cluster ${identity.clusterId}, not to ${options.clusterId}`
    )
  }
  return { identity, layout }
})

const removeParts = Effect.fnUntraced(function* (device: WritableDevice) {
  const { disk, layout } = device
  const names = yield* attempt(device, "list parts", () => disk.names(layout.incoming))
  yield* Effect.forEach(names, (name) =>
    attempt(device, "remove a part", () => disk.unlink(join(layout.incoming, name)))
  )
})

const countCopies = (device: WritableDevice) =>
  copySizes(device).pipe(
    Stream.runForEach((size) => Effect.sync(() => device.room.add(lengthOfFile(size))))
  )

const partNumbers = (): (() => number) => {
  let last = 0
  return () => (last += 1)
}

/** Claims and prepares a device until the scope closes. */
const holdDevice = Effect.fnUntraced(function* (disk: Disk, options: OpenOptions) {
  const { identity, layout } = yield* identify(disk, options)
  const { deviceId } = identity
  const claim = yield* Effect.acquireRelease(claimDevice({ disk, layout, deviceId }), (held) =>
    Effect.ignore(held.release)
  )
  const device: WritableDevice = {
    disk,
    layout,
    deviceId,
    claim,
    folders: folderSync(disk),
    room: deviceRoom({
      reservedBytes: options.reservedBytes,
      capacityBytes: Option.getOrElse(options.capacityBytes, () => Number.MAX_SAFE_INTEGER)
    }),
    naming: Semaphore.makeUnsafe(1),
    durableFolders: new Set(yield* syncFolders({ disk, layout, deviceId })),
    nextPart: partNumbers()
  }
  yield* removeParts(device)
  yield* countCopies(device)
  return { device, identity }
})

const usageOf = (device: WritableDevice) =>
  attempt(device, "ask for free space", () => device.disk.space(device.layout.directory)).pipe(
    Effect.tap(() => device.claim.confirm),
    Effect.map((space) => ({
      capacity: device.room.capacity(space),
      used: device.room.used(),
      available: device.room.available(space),
      copies: device.room.copies()
    }))
  )

/** Opens a device on the given disk. */
export const openDevice = Effect.fnUntraced(function* (
  disk: Disk,
  options: OpenOptions
): Effect.fn.Return<OpenDevice, ChunkDeviceError, Scope.Scope> {
  const { device, identity } = yield* holdDevice(disk, options)
  let isOpen = true
  yield* Effect.addFinalizer(() => Effect.sync(() => (isOpen = false)))
  const closed = () => refusal(device, "closed", "the device was closed")
  const whileOpen = <A, R>(act: Effect.Effect<A, ChunkDeviceError, R>) =>
    Effect.suspend(() => (isOpen ? act : Effect.fail(closed())))
  const streamWhileOpen = <A>(stream: Stream.Stream<A, ChunkDeviceError>) =>
    Stream.suspend(() => (isOpen ? stream : Stream.fail(closed())))
  return {
    identity,
    epoch: device.claim.epoch,
    usage: whileOpen(usageOf(device)),
    begin: (begin) => whileOpen(beginCopy(device, begin)),
    describe: (chunk) => whileOpen(describeCopy(device, chunk)),
    read: (read) => streamWhileOpen(readCopy(device, read)),
    verify: (chunk) => whileOpen(verifyCopy(device, chunk)),
    remove: (chunk) => whileOpen(removeCopy(device, chunk)),
    list: streamWhileOpen(listCopies(device))
  }
})

/** The port on any disk; tests pass one that fails. */
export const chunkDevicesOn = (disk: Disk): Layer.Layer<ChunkDevices> =>
  Layer.succeed(ChunkDevices, {
    format: (options) => formatDevice(disk, options),
    open: (options) => openDevice(disk, options)
  })

/** Chunk devices on plain files. */
export const layerChunkDevices: Layer.Layer<ChunkDevices> = chunkDevicesOn(nodeDisk)
