/**
 * Writing one copy: reserve, stream into `incoming`, seal, rename, make the name durable.
 *
 *     begin ─ room? ─▶ incoming/<n>.part ─ seal ─▶ rename ─▶ fsync of the folder ─▶ answered
 *
 * 1. Nothing is taken without room; the room is given back whatever happens.
 * 2. Until the rename no name of a copy exists; after a failure before it nothing remains.
 * 3. A copy of the same bytes that is there already is replaced by the new one, which is known to
 *    be good; one with other bytes or with damage is left alone, and the answer is `exists`.
 */
import { dirname, join } from "node:path"
import type { ChunkDescription, ChunkDeviceError, ChunkName, ChunkWriter } from "@holdfast/storage"
import { Effect, type Scope, type Semaphore } from "effect"
import { chunkBytesMax } from "./block-file-format.ts"
import { type BlockFileWriter, blockFileWriter } from "./block-file-write.ts"
import { chunkWords, copyFile, describeCopy, type HeldDevice } from "./chunk-device-copy.ts"
import { attempt, errnoOf, refusal } from "./chunk-device-errors.ts"
import type { DiskFile } from "./chunk-device-disk.ts"
import { copyPath } from "./chunk-device-layout.ts"
import type { DeviceRoom, RoomReservation } from "./chunk-device-room.ts"
import type { FolderSync } from "./chunk-device-sync.ts"

/** What writes on one device share. */
export interface WritableDevice extends HeldDevice {
  readonly room: DeviceRoom
  readonly folders: FolderSync
  /** Held while a name is looked for and taken, or taken away. */
  readonly naming: Semaphore.Semaphore
  /** Folders below `chunks` whose names are known to be durable. */
  readonly durableFolders: Set<string>
  /** Numbers the parts in `incoming`. */
  readonly nextPart: () => number
}

/** A write under way. */
interface Part {
  readonly path: string
  readonly file: DiskFile
  readonly reservation: RoomReservation
  /** Whether the part got its copy's name; then there is nothing left to remove. */
  isNamed: boolean
}

/**
 * Makes one folder durably, once in an opening: one that exists may be left over from a call that
 * failed before its name was durable. Nothing is made when the parent is not there.
 */
const makeFolder = (device: WritableDevice, folder: string) =>
  device.durableFolders.has(folder)
    ? Effect.void
    : attempt(device, "make a folder", async () => {
        const path = join(device.layout.chunks, folder)
        await device.disk.makeDirectory(path).catch((cause: unknown) => {
          if (errnoOf(cause) !== "EEXIST") throw cause
        })
        await device.folders.sync(dirname(path))
        device.durableFolders.add(folder)
      })

const makeFolders = (device: WritableDevice, chunk: ChunkName) => {
  const { high, folder } = copyPath(chunk)
  return Effect.andThen(makeFolder(device, high), makeFolder(device, folder))
}

/** The size that a copy adds to the accounts: nothing when it takes the place of its equal. */
const takeName = Effect.fnUntraced(function* (
  device: WritableDevice,
  part: Part,
  description: ChunkDescription
) {
  yield* device.claim.confirm
  const existing = yield* describeCopy(device, description).pipe(
    Effect.catchIf(
      (error) => error.code === "not-found",
      () => Effect.void
    ),
    Effect.catchIf(
      (error) => error.code === "corrupt",
      (error) => Effect.fail(refusal(device, "exists", `${error.message}; remove it first`))
    )
  )
  const isOther =
    existing !== undefined &&
    (existing.length !== description.length || existing.checksum !== description.checksum)
  if (isOther) {
    return yield* refusal(
      device,
      "exists",
      `${chunkWords(description)} is here with other bytes: versions are never used twice`
    )
  }
  yield* attempt(device, `name ${chunkWords(description)}`, () =>
    device.disk.rename(part.path, copyFile(device, description))
  )
  part.isNamed = true
  return existing === undefined
})

const finishPart = Effect.fnUntraced(function* (
  device: WritableDevice,
  part: Part,
  writer: BlockFileWriter
) {
  const description = yield* attempt(device, "seal a copy", writer.seal)
  yield* makeFolders(device, description)
  const isNew = yield* device.naming.withPermits(1)(takeName(device, part, description))
  part.reservation.release()
  if (isNew) device.room.add(description.length)
  yield* attempt(device, "make a copy's name durable", () =>
    device.folders.sync(join(device.layout.chunks, copyPath(description).folder))
  )
  return description
})

const refuseWithoutRoom = Effect.fnUntraced(function* (
  device: WritableDevice,
  expectedBytes: number
) {
  if (!Number.isSafeInteger(expectedBytes) || expectedBytes < 0 || expectedBytes > chunkBytesMax) {
    return yield* refusal(device, "out-of-range", `${expectedBytes} bytes are no chunk's length`)
  }
  const space = yield* attempt(device, "ask for free space", () =>
    device.disk.space(device.layout.directory)
  )
  const available = device.room.available(space)
  if (expectedBytes > available) {
    return yield* refusal(
      device,
      "full",
      `${expectedBytes} bytes are wanted, ${available} may be written above the floor`
    )
  }
})

const closePart = (device: WritableDevice, part: Part) =>
  attempt(device, "close a part", () => part.file.close()).pipe(
    Effect.ensuring(
      part.isNamed
        ? Effect.void
        : Effect.ignore(attempt(device, "remove a part", () => device.disk.unlink(part.path)))
    ),
    Effect.ignore,
    Effect.ensuring(Effect.sync(part.reservation.release))
  )

const openPart = Effect.fnUntraced(function* (device: WritableDevice, expectedBytes: number) {
  yield* refuseWithoutRoom(device, expectedBytes)
  const reservation = device.room.reserve(expectedBytes)
  const path = join(device.layout.incoming, `${device.nextPart()}.part`)
  const file = yield* device.claim.confirm.pipe(
    Effect.andThen(attempt(device, "begin a copy", () => device.disk.create(path))),
    Effect.onError(() => Effect.sync(reservation.release))
  )
  const part: Part = { path, file, reservation, isNamed: false }
  return part
})

/** The writer's two calls, one at a time, and none after `finish` or a failure. */
const chunkWriter = (
  device: WritableDevice,
  part: Part,
  writer: BlockFileWriter,
  expectedBytes: number
): ChunkWriter => {
  let isOpen = true
  const whileOpen = <A>(act: Effect.Effect<A, ChunkDeviceError>) =>
    Effect.suspend(() =>
      isOpen
        ? Effect.onError(act, () => Effect.sync(() => (isOpen = false)))
        : Effect.fail(refusal(device, "closed", "this write has ended"))
    )
  return {
    write: (bytes) =>
      whileOpen(
        Effect.suspend(() =>
          writer.length() + bytes.length > expectedBytes
            ? Effect.fail(
                refusal(device, "out-of-range", `more than the ${expectedBytes} bytes announced`)
              )
            : attempt(device, "write", () => writer.add(bytes))
        )
      ),
    finish: whileOpen(
      Effect.suspend(() => finishPart(device, part, writer)).pipe(
        Effect.uninterruptible,
        Effect.tap(() => Effect.sync(() => (isOpen = false)))
      )
    )
  }
}

/** Starts a copy; see the port. */
export const beginCopy = (
  device: WritableDevice,
  options: { readonly chunk: ChunkName; readonly expectedBytes: number }
): Effect.Effect<ChunkWriter, ChunkDeviceError, Scope.Scope> =>
  Effect.acquireRelease(openPart(device, options.expectedBytes), (part) =>
    closePart(device, part)
  ).pipe(
    Effect.map((part) =>
      chunkWriter(
        device,
        part,
        blockFileWriter({
          file: part.file,
          chunk: options.chunk,
          expectedBytes: options.expectedBytes,
          onWritten: part.reservation.written
        }),
        options.expectedBytes
      )
    )
  )
