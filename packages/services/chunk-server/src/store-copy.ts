/** Stores the bytes of a stream as a copy: checked as they come, durable before the answer. */
import { crc32 } from "node:zlib"
import {
  type ChunkDescription,
  type ChunkName,
  ChunkTransportError,
  type ChunkWriter
} from "@holdfast/storage"
import { Effect, Option, Stream } from "effect"
import { copyKey } from "./copy-ledger.ts"
import { countWritten } from "./counters.ts"
import { type ServedDevice, transportError } from "./served-device.ts"

const refuse = (device: ServedDevice, code: ChunkTransportError["code"], message: string) =>
  new ChunkTransportError({ code, deviceId: device.deviceId, message })

/** What is there under this name already; damage is no place for a new copy. */
const findExisting = (device: ServedDevice, chunk: ChunkName) =>
  device.store.describe(chunk).pipe(
    Effect.asSome,
    Effect.catchIf(
      (error) => error.code === "not-found",
      () => Effect.succeedNone
    ),
    Effect.mapError((error) =>
      error.code === "corrupt"
        ? refuse(device, "exists", `a damaged copy is here: ${error.message}`)
        : transportError(error)
    )
  )

/** A copy that is being written. */
export interface CopyInput {
  readonly write: (bytes: Uint8Array) => Effect.Effect<void, ChunkTransportError>
  /** Makes the copy durable; the device's ledger knows it then. */
  readonly finish: Effect.Effect<ChunkDescription, ChunkTransportError>
}

const claimName = (device: ServedDevice, chunk: ChunkName) =>
  Effect.acquireRelease(
    Effect.suspend(() => {
      const key = copyKey(chunk)
      if (device.writing.has(key)) {
        return Effect.fail(refuse(device, "unavailable", "this copy is being written already"))
      }
      device.writing.add(key)
      return Effect.succeed(key)
    }),
    (key) => Effect.sync(() => device.writing.delete(key))
  )

const finishCopy = (device: ServedDevice, writer: ChunkWriter, isNew: boolean) =>
  writer.finish.pipe(
    Effect.mapError(transportError),
    Effect.tap((chunk) =>
      Effect.sync(() => {
        device.knownBad.delete(copyKey(chunk))
        if (isNew) device.ledger.added(chunk)
      })
    ),
    Effect.tap(({ length }) => countWritten(length)),
    Effect.uninterruptible
  )

/** Begins a copy of exactly `length` bytes on a device; one write of a copy at a time. */
export const beginCopy = Effect.fnUntraced(function* (
  device: ServedDevice,
  chunk: ChunkName,
  length: number
) {
  yield* claimName(device, chunk)
  const existing = yield* findExisting(device, chunk)
  const writer = yield* device.store
    .begin({ chunk, expectedBytes: length })
    .pipe(Effect.mapError(transportError))
  let received = 0
  const finish = finishCopy(device, writer, Option.isNone(existing))
  const input: CopyInput = {
    write: (bytes) => {
      received += bytes.length
      return writer.write(bytes).pipe(Effect.mapError(transportError))
    },
    finish: Effect.suspend(() =>
      received === length
        ? finish
        : Effect.fail(refuse(device, "invalid", `${received} of ${length} bytes came`))
    )
  }
  return input
})

/**
 * Stores a chunk whose length and checksum are known. Bytes that are not those are `corrupt`, and
 * no copy of them ever appears.
 */
export const storeKnownCopy = (
  device: ServedDevice,
  chunk: ChunkDescription,
  data: Stream.Stream<Uint8Array, ChunkTransportError>
): Effect.Effect<ChunkDescription, ChunkTransportError> =>
  Effect.scoped(
    Effect.gen(function* () {
      const { fileId, chunkId, version, length, checksum } = chunk
      const input = yield* beginCopy(device, { fileId, chunkId, version }, length)
      let found = 0
      yield* data.pipe(
        Stream.runForEach((piece) => {
          found = crc32(piece, found)
          return input.write(piece)
        })
      )
      if (found !== checksum) {
        return yield* refuse(device, "corrupt", "the source's bytes are not those of the chunk")
      }
      return yield* input.finish
    })
  )
