/**
 * Where the bytes of a plain file go on this machine.
 *
 * 1. A regular file is there as a whole or not at all: the bytes go to a file beside it, which
 *    takes its name when all of them are durable.
 * 2. What is no regular file, such as a pipe or `/dev/null`, is written to as it is.
 */
import { realpathSync, rmSync } from "node:fs"
import { type FileHandle, open, rename } from "node:fs/promises"
import { type CommandFailure, failure } from "@holdfast/process"
import { Effect, Stream } from "effect"
import { reasonOf, statOf } from "./path-status.ts"

const attempt = <A>(path: string, run: () => Promise<A>): Effect.Effect<A, CommandFailure> =>
  Effect.tryPromise({
    try: run,
    catch: (cause) => failure(`${path} cannot be written: ${reasonOf(cause)}`)
  })

/** Uses an open file; `discard` runs when that fails. */
const withOpen = <A, E, R>(
  options: { readonly path: string; readonly flags: "w" | "wx"; readonly discard: () => void },
  use: (handle: FileHandle) => Effect.Effect<A, E, R>
): Effect.Effect<A, E | CommandFailure, R> =>
  Effect.acquireUseRelease(
    attempt(options.path, () => open(options.path, options.flags)),
    (handle) => Effect.onError(use(handle), () => Effect.sync(options.discard)),
    (handle) => attempt(options.path, () => handle.close())
  )

/** Writes everything and answers how many bytes that were. */
const writeAll = <E, R>(
  path: string,
  handle: FileHandle,
  data: Stream.Stream<Uint8Array, E, R>
): Effect.Effect<number, E | CommandFailure, R> =>
  data.pipe(
    // On a handle, this goes on where the last one ended, and writes all of what it is given.
    Stream.mapEffect((part) =>
      Effect.as(
        attempt(path, () => handle.writeFile(part)),
        part.length
      )
    ),
    Stream.runFold(
      () => 0,
      (sum, length) => sum + length
    )
  )

/** Writes a stream to a path, and answers its length; see above for what is there on failure. */
export const writeTo = Effect.fnUntraced(function* <E, R>(
  path: string,
  data: Stream.Stream<Uint8Array, E, R>
): Effect.fn.Return<number, E | CommandFailure, R> {
  const found = yield* statOf(path, "written")
  if (found?.isDirectory() === true) {
    return yield* failure(`${path} is a directory; name a file in it with --out`)
  }
  if (found !== undefined && !found.isFile()) {
    const nothing = (): void => undefined
    return yield* withOpen({ path, flags: "w", discard: nothing }, (handle) =>
      writeAll(path, handle, data)
    )
  }
  const target = found === undefined ? path : realpathSync(path)
  const part = `${target}.${process.pid}.part`
  const discard = (): void => rmSync(part, { force: true })
  return yield* withOpen({ path: part, flags: "wx", discard }, (handle) =>
    Effect.gen(function* () {
      const bytes = yield* writeAll(path, handle, data)
      yield* attempt(path, () => handle.sync())
      yield* attempt(path, () => rename(part, target))
      return bytes
    })
  )
})
