/** Where the bytes of a plain file come from: a file on this machine, or standard input. */
import { createReadStream } from "node:fs"
import { basename } from "node:path"
import { type CommandFailure, failure } from "@holdfast/process"
import { Effect, Option, Stream } from "effect"
import { reasonOf, statOf } from "./path-status.ts"

/** Bytes to store, and what is known of them before. */
export interface FileSource {
  /** What it is called when it is stored. */
  readonly name: string
  /** How many bytes there are; 0 when that is not known. */
  readonly bytes: number
  /** Whether running the stream again gives the same bytes: a pipe is empty by then. */
  readonly isRepeatable: boolean
  readonly data: Stream.Stream<Uint8Array, CommandFailure>
}

const partBytes = 1024 * 1024

/** What a path is called in sentences; `-` is standard input. */
export const inputName = (path: string): string => (path === "-" ? "standard input" : path)

/** The bytes of a file, or of standard input for `-`. */
export const inputBytes = (path: string): Stream.Stream<Uint8Array, CommandFailure> =>
  Stream.suspend(() =>
    Stream.fromAsyncIterable<Uint8Array, CommandFailure>(
      path === "-" ? process.stdin : createReadStream(path, { highWaterMark: partBytes }),
      (cause) => failure(`${inputName(path)} cannot be read: ${reasonOf(cause)}`)
    )
  )

/** Opens a file, or standard input for `-`, which needs a name. */
export const openSource = Effect.fnUntraced(function* (options: {
  readonly path: string
  readonly name: Option.Option<string>
}): Effect.fn.Return<FileSource, CommandFailure> {
  const { path } = options
  if (path === "-") {
    if (Option.isNone(options.name)) {
      return yield* failure("standard input has no name of its own: give it one with --name")
    }
    return { name: options.name.value, bytes: 0, isRepeatable: false, data: inputBytes(path) }
  }
  const found = yield* statOf(path, "read")
  if (found === undefined) return yield* failure(`there is no file ${path}`)
  if (found.isDirectory()) {
    return yield* failure(`${path} is a directory; put takes one file at a time`)
  }
  const name = Option.getOrElse(options.name, () => basename(path))
  const isRepeatable = found.isFile()
  return { name, bytes: isRepeatable ? found.size : 0, isRepeatable, data: inputBytes(path) }
})
