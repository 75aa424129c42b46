/** Bytes from a file or from standard input, some at a time; each chunk is a buffer of its own. */
import { RecordSourceError } from "@holdfast/records"
import { Effect } from "effect"
import type { Scope } from "effect"
import { open } from "node:fs/promises"
import type { FileHandle } from "node:fs/promises"
import type { Readable } from "node:stream"

/** Bytes read at a time. */
const CHUNK_BYTES = 262_144

/** Reads the next bytes; `undefined` at the end. It is not called again before it has answered. */
export type ByteInput = () => Promise<Uint8Array | undefined>

const codeOf = (cause: unknown): unknown =>
  typeof cause === "object" && cause !== null && "code" in cause ? cause.code : undefined

/** What went wrong with a file, as a source says it. */
export const inputError = (path: string, cause: unknown): RecordSourceError => {
  const text = cause instanceof Error ? cause.message : String(cause)
  switch (codeOf(cause)) {
    case "ENOENT":
      return new RecordSourceError({ code: "not-found", message: `There is no file ${path}.` })
    case "EACCES":
    case "EPERM":
      return new RecordSourceError({ code: "denied", message: `${path} may not be read: ${text}` })
    case "EISDIR":
      return new RecordSourceError({
        code: "unsupported",
        message: `${path} is a directory; name a file.`
      })
    default:
      return new RecordSourceError({ code: "unavailable", message: `${path}: ${text}` })
  }
}

const readFileBytes =
  (file: FileHandle): ByteInput =>
  async () => {
    const buffer = new Uint8Array(CHUNK_BYTES)
    const { bytesRead } = await file.read(buffer, 0, CHUNK_BYTES, null)
    return bytesRead === 0 ? undefined : buffer.subarray(0, bytesRead)
  }

/** Opens a file until the scope closes. */
export const fileInput = (path: string): Effect.Effect<ByteInput, RecordSourceError, Scope.Scope> =>
  Effect.map(
    Effect.acquireRelease(
      Effect.tryPromise({
        try: () => open(path, "r"),
        catch: (cause) => inputError(path, cause)
      }),
      (file) => Effect.promise(() => file.close())
    ),
    readFileBytes
  )

/** Reads a stream such as standard input; what is not yet asked for is not yet read. */
export const streamInput = (stream: Readable): ByteInput => {
  const iterator: AsyncIterator<unknown> = stream[Symbol.asyncIterator]()
  return async () => {
    const next = await iterator.next()
    if (next.done === true) return undefined
    return next.value instanceof Uint8Array
      ? new Uint8Array(next.value)
      : Buffer.from(String(next.value))
  }
}
