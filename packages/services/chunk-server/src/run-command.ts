/** Carries out one command of the metadata service; the answer says what became of it. */
import {
  type ChunkDescription,
  type ChunkDeviceError,
  ChunkTransport,
  type ChunkTransportError
} from "@holdfast/storage"
import type { MetadataChunkServerOperations } from "@holdfast/wire"
import { type Duration, Effect, Option } from "effect"
import { copyKey } from "./copy-ledger.ts"
import { storeKnownCopy } from "./store-copy.ts"
import { noteBad, type ServedDevice } from "./served-device.ts"

type ChunkCommand = MetadataChunkServerOperations.ChunkCommand
type Outcome = MetadataChunkServerOperations.CommandOutcome["outcome"]
type CommandOf<Tag extends ChunkCommand["_tag"]> = Extract<ChunkCommand, { readonly _tag: Tag }>

const done = (chunk?: ChunkDescription): Outcome =>
  chunk === undefined ? { _tag: "Done" } : { _tag: "Done", chunk }

/** A command that could not be carried out now. */
export const failed = (code: string, reason: string): Outcome => ({ _tag: "Failed", code, reason })

const failedBy = (error: ChunkDeviceError | ChunkTransportError): Outcome =>
  failed(error.code, error.message)

/** An intact copy that is there already is as good as a new one. */
const findIntact = (device: ServedDevice, chunk: ChunkDescription) =>
  device.store.verify(chunk).pipe(
    Effect.map((found) =>
      found.length === chunk.length && found.checksum === chunk.checksum
        ? Option.some(found)
        : Option.none()
    ),
    Effect.catch(() => Effect.succeedNone)
  )

/** Reads the copy from its source, whose server checks each block, and checks the whole here. */
const runCopy = Effect.fnUntraced(function* (
  device: ServedDevice,
  command: CommandOf<"Copy">,
  transferDeadline: Duration.Duration
) {
  const transport = yield* ChunkTransport
  const { chunk, source } = command
  const existing = yield* findIntact(device, chunk)
  if (Option.isSome(existing)) return done(existing.value)
  const { fileId, chunkId, version } = chunk
  const data = transport.read({
    chunk: { fileId, chunkId, version },
    source,
    range: Option.none(),
    deadline: transferDeadline
  })
  return yield* storeKnownCopy(device, chunk, data).pipe(
    Effect.map(done),
    Effect.catch((error) =>
      Effect.succeed<Outcome>(
        error.code === "corrupt" ? { _tag: "Corrupt", reason: error.message } : failedBy(error)
      )
    )
  )
})

/** A copy that is not there counts as removed. */
const runDelete = (device: ServedDevice, command: CommandOf<"Delete">): Effect.Effect<Outcome> =>
  device.store.remove(command.chunk).pipe(
    Effect.map(() => {
      device.ledger.removed(command.chunk)
      device.knownBad.delete(copyKey(command.chunk))
      return done()
    }),
    Effect.uninterruptible,
    Effect.catch((error) => Effect.succeed(error.code === "not-found" ? done() : failedBy(error)))
  )

/**
 * A copy whose file is gone from a disk that is there is as bad as a damaged one. A check that
 * could not be made (`unavailable`) says nothing about the copy.
 */
const runVerify = (device: ServedDevice, command: CommandOf<"Verify">): Effect.Effect<Outcome> =>
  device.store.verify(command.chunk).pipe(
    Effect.map(done),
    Effect.catch((error) => {
      if (error.code !== "corrupt" && error.code !== "not-found") {
        return Effect.succeed(failedBy(error))
      }
      noteBad(device, { chunk: command.chunk, reason: error.message })
      return Effect.succeed<Outcome>({ _tag: "Corrupt", reason: error.message })
    })
  )

/** Carries out a command on its device. */
export const runCommand = (
  device: ServedDevice,
  command: ChunkCommand,
  transferDeadline: Duration.Duration
): Effect.Effect<Outcome, never, ChunkTransport> => {
  switch (command._tag) {
    case "Copy":
      return runCopy(device, command, transferDeadline)
    case "Delete":
      return runDelete(device, command)
    case "Verify":
      return runVerify(device, command)
  }
}
