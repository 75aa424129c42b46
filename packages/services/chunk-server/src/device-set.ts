/**
 * The devices of one server, each looked after apart.
 *
 *     directory ─ open ─▶ served ─ its disk is gone ─▶ closed ─ pause ─▶ open ...
 *                  └─ refused: not formatted, foreign, locked, unavailable ─ pause ─▶ open ...
 *
 * 1. What one device fails with touches no other; each is tried again for ever.
 * 2. A device whose disk went is closed, and opened anew when the disk is back: under a higher
 *    epoch, so that nothing that was said of it before counts.
 * 3. A device id is served from one directory at a time: a second directory with it is a copy.
 */
import { ChunkDevices } from "@holdfast/storage"
import { DeviceId } from "@holdfast/wire"
import { Duration, Effect, Option, Schema, type Scope } from "effect"
import type { ChunkServerOptions, ChunkServerSettings, DeviceOptions } from "./options.ts"
import { type ServedDevice, servedDevice } from "./served-device.ts"

/** How a directory stands. */
export interface DirectoryState {
  readonly directory: string
  /** The device in it, while it is open. */
  readonly device: ServedDevice | undefined
  /** Why it is not open. */
  readonly reason: string | undefined
}

/** The devices of a server. */
export interface DeviceSet {
  /** Devices that are open. */
  readonly open: () => ReadonlyArray<ServedDevice>
  /** The open device of this id that may be served. */
  readonly find: (deviceId: string) => ServedDevice | undefined
  readonly directories: () => ReadonlyArray<DirectoryState>
}

/** Looks at an open device's disk this often. */
const checkInterval = Duration.seconds(1)
/** Failed looks in a row after which the disk counts as gone. */
const failedChecksMax = 3

interface Directory {
  readonly options: DeviceOptions
  device: ServedDevice | undefined
  reason: string | undefined
}

interface Caretaker {
  readonly clusterId: string
  readonly settings: ChunkServerSettings
  readonly directories: ReadonlyArray<Directory>
  /** Called with each device that opened. */
  readonly onOpen: (device: ServedDevice) => Effect.Effect<void, never, Scope.Scope>
}

const isServedElsewhere = (caretaker: Caretaker, deviceId: string): boolean =>
  caretaker.directories.some(({ device }) => device?.deviceId === deviceId)

/** Ends when the device's disk has failed several looks in a row. */
const watchDisk = Effect.fnUntraced(function* (device: ServedDevice) {
  let failedChecks = 0
  let reason = ""
  while (failedChecks < failedChecksMax) {
    yield* Effect.sleep(checkInterval)
    const failure = yield* Effect.flip(Effect.asVoid(device.store.usage)).pipe(
      Effect.catch(() => Effect.void)
    )
    if (failure === undefined) failedChecks = 0
    else {
      failedChecks += 1
      reason = failure.message
    }
  }
  return reason
})

/** Opens a directory and stays with it until its disk is gone; answers why it ended. */
const serveOnce = Effect.fnUntraced(function* (caretaker: Caretaker, directory: Directory) {
  const devices = yield* ChunkDevices
  const store = yield* devices.open({ ...directory.options, clusterId: caretaker.clusterId })
  const named = Schema.decodeUnknownOption(DeviceId)(store.identity.deviceId)
  if (Option.isNone(named)) return `${JSON.stringify(store.identity.deviceId)} is no device id`
  const deviceId = named.value
  if (isServedElsewhere(caretaker, deviceId)) {
    return `device ${deviceId} is served from another directory already; this one is a copy of it`
  }
  const device = servedDevice(deviceId, directory.options.directory, store)
  yield* Effect.acquireRelease(
    Effect.sync(() => {
      directory.device = device
      directory.reason = undefined
    }),
    () =>
      Effect.sync(() => {
        directory.device = undefined
      })
  )
  yield* Effect.logInfo(`device ${deviceId} is open under epoch ${device.epoch}`)
  yield* caretaker.onOpen(device)
  return yield* watchDisk(device)
})

const noteReason = (directory: Directory, reason: string) =>
  Effect.suspend(() => {
    if (directory.reason === reason) return Effect.void
    directory.reason = reason
    return Effect.logWarning(`${directory.options.directory} is not served: ${reason}`)
  })

const attend = (caretaker: Caretaker, directory: Directory) =>
  Effect.scoped(serveOnce(caretaker, directory)).pipe(
    Effect.catch((error) => Effect.succeed(`${error.code}: ${error.message}`)),
    Effect.flatMap((reason) => noteReason(directory, reason)),
    Effect.catchCause((cause) => Effect.logError("a device's caretaker failed", cause))
  )

/** Opens the directories and looks after them until the scope closes. */
export const makeDeviceSet = Effect.fnUntraced(function* (
  options: ChunkServerOptions,
  settings: ChunkServerSettings,
  onOpen: Caretaker["onOpen"]
): Effect.fn.Return<DeviceSet, never, ChunkDevices | Scope.Scope> {
  const directories = options.devices.map((each): Directory => ({
    options: each,
    device: undefined,
    reason: undefined
  }))
  const { clusterId } = options
  const caretaker: Caretaker = { clusterId, settings, directories, onOpen }
  yield* Effect.forEach(directories, (directory) =>
    attend(caretaker, directory).pipe(
      Effect.andThen(Effect.sleep(settings.reopen)),
      Effect.forever,
      Effect.forkScoped
    )
  )
  const open = () => directories.flatMap(({ device }) => (device === undefined ? [] : [device]))
  return {
    open,
    find: (deviceId) =>
      open().find((device) => device.deviceId === deviceId && device.refusal === undefined),
    directories: () =>
      directories.map(({ options: { directory }, device, reason }) => ({
        directory,
        device,
        reason
      }))
  }
})
