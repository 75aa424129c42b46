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
  readonly data: Stream.Stream<Uint8Array, CommandFailure>
}

const partBytes = 1024 * 1024

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
    const data = Stream.fromAsyncIterable<Uint8Array, CommandFailure>(process.stdin, (cause) =>
      failure(`standard input cannot be read: ${reasonOf(cause)}`)
    )
    return { name: options.name.value, bytes: 0, data }
  }
  const found = yield* statOf(path, "read")
  if (found === undefined) return yield* failure(`there is no file ${path}`)
  if (found.isDirectory()) {
    return yield* failure(`${path} is a directory; put takes one file at a time`)
  }
  const data = Stream.suspend(() =>
    Stream.fromAsyncIterable<Uint8Array, CommandFailure>(
      createReadStream(path, { highWaterMark: partBytes }),
      (cause) => failure(`${path} cannot be read: ${reasonOf(cause)}`)
    )
  )
  const name = Option.getOrElse(options.name, () => basename(path))
  return { name, bytes: found.isFile() ? found.size : 0, data }
})
