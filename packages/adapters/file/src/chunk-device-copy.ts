/** One copy on a device: found, described, read, verified. */
import { join } from "node:path"
import type { ByteRange, ChunkDescription, ChunkDeviceError, ChunkName } from "@holdfast/storage"
import { Cause, Effect, Option, type Scope, Stream } from "effect"
import type { BlockFileHeader } from "./block-file-format.ts"
import {
  BlockFileDamage,
  describeHeader,
  pieceReader,
  readHeader,
  verifyFile
} from "./block-file-read.ts"
import type { DeviceClaim } from "./chunk-device-claim.ts"
import type { Disk, DiskFile } from "./chunk-device-disk.ts"
import { attempt, attemptExisting, refusal, refusalOf } from "./chunk-device-errors.ts"
import { copyPath, type DeviceLayout } from "./chunk-device-layout.ts"

/** What the acts on one device share. */
export interface HeldDevice {
  readonly disk: Disk
  readonly layout: DeviceLayout
  readonly deviceId: string
  readonly claim: DeviceClaim
}

/** A chunk in words. */
export const chunkWords = (chunk: ChunkName): string =>
  `chunk ${chunk.fileId}/${chunk.chunkId} version ${chunk.version}`

/** The file of a copy. */
export const copyFile = (device: HeldDevice, chunk: ChunkName): string => {
  const { folder, name } = copyPath(chunk)
  return join(device.layout.chunks, folder, name)
}

/** Runs a read; damage is `corrupt`, a failed call keeps its own code. */
const attemptRead = <A>(device: HeldDevice, chunk: ChunkName, call: () => Promise<A>) =>
  Effect.tryPromise({
    try: call,
    catch: (cause) =>
      cause instanceof BlockFileDamage
        ? refusal(device, "corrupt", `${chunkWords(chunk)}: ${cause.message}`)
        : refusalOf(device, `read ${chunkWords(chunk)}`, cause)
  })

/** The refusal for a copy that is not there. */
export const notFound = (device: HeldDevice, chunk: ChunkName) =>
  refusal(device, "not-found", `${chunkWords(chunk)} is not on this device`)

/** A missing file is `not-found` only while the disk is there. */
const refuseMissing = (device: HeldDevice, chunk: ChunkName) =>
  device.claim.confirm.pipe(Effect.andThen(Effect.fail(notFound(device, chunk))))

/** A copy's open file and its checked header. */
export interface OpenCopy {
  readonly file: DiskFile
  readonly header: BlockFileHeader
}

/** Opens a copy until the scope closes. */
export const openCopy = (
  device: HeldDevice,
  chunk: ChunkName
): Effect.Effect<OpenCopy, ChunkDeviceError, Scope.Scope> =>
  Effect.acquireRelease(
    attemptExisting(device, `open ${chunkWords(chunk)}`, () =>
      device.disk.open(copyFile(device, chunk))
    ),
    (file) =>
      file === undefined
        ? Effect.void
        : Effect.ignore(attempt(device, "close a copy", () => file.close()))
  ).pipe(
    Effect.flatMap((file) =>
      file === undefined ? refuseMissing(device, chunk) : Effect.succeed(file)
    ),
    Effect.flatMap((file) =>
      attemptRead(device, chunk, () => readHeader(file, chunk)).pipe(
        Effect.map((header) => ({ file, header }))
      )
    )
  )

/** What a copy's header says. */
export const describeCopy = (device: HeldDevice, chunk: ChunkName) =>
  Effect.scoped(openCopy(device, chunk).pipe(Effect.map(({ header }) => describeHeader(header))))

/** Reads the whole copy and checks all of it. */
export const verifyCopy = (
  device: HeldDevice,
  chunk: ChunkName
): Effect.Effect<ChunkDescription, ChunkDeviceError> =>
  Effect.scoped(
    openCopy(device, chunk).pipe(
      Effect.flatMap(({ file, header }) =>
        attemptRead(device, chunk, () => verifyFile(file, header)).pipe(
          Effect.as(describeHeader(header))
        )
      )
    )
  )

const checkRange = (device: HeldDevice, header: BlockFileHeader, range: ByteRange) =>
  Number.isSafeInteger(range.start) &&
  Number.isSafeInteger(range.end) &&
  range.start >= 0 &&
  range.start <= range.end &&
  range.end <= header.length
    ? Effect.succeed(range)
    : Effect.fail(
        refusal(
          device,
          "out-of-range",
          `bytes ${range.start} to ${range.end} are not inside 0 to ${header.length}`
        )
      )

/** The verified bytes of a copy, or of a range of it. */
export const readCopy = (
  device: HeldDevice,
  options: { readonly chunk: ChunkName; readonly range: Option.Option<ByteRange> }
): Stream.Stream<Uint8Array, ChunkDeviceError> =>
  Stream.scoped(
    Stream.fromPull(
      Effect.gen(function* () {
        const { file, header } = yield* openCopy(device, options.chunk)
        const whole = { start: 0, end: header.length }
        const range = yield* checkRange(
          device,
          header,
          Option.getOrElse(options.range, () => whole)
        )
        const pieces = pieceReader(file, header, range)
        return attemptRead(device, options.chunk, pieces.next).pipe(
          Effect.flatMap((piece) =>
            piece === undefined ? Cause.done() : Effect.succeed([piece] as const)
          )
        )
      })
    )
  )
