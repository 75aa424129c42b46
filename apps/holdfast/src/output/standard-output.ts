/**
 * Standard output with back-pressure. A reader that closes the pipe early (`| head`) is no error:
 * the command ends as one that was asked to stop.
 */
import { Data, Effect } from "effect"

/** The reader of standard output went away; the command has nothing left to do. */
export class OutputClosed extends Data.TaggedError("OutputClosed") {}

const isClosedPipe = (error: Error): boolean =>
  "code" in error && (error.code === "EPIPE" || error.code === "ERR_STREAM_DESTROYED")

/** Writes bytes or text to standard output and waits until they are taken. */
export const writeOutput = (data: string | Uint8Array): Effect.Effect<void, OutputClosed> =>
  Effect.callback<void, OutputClosed>((resume) => {
    process.stdout.write(data, (error) => {
      if (error === null || error === undefined) return resume(Effect.void)
      resume(isClosedPipe(error) ? Effect.fail(new OutputClosed()) : Effect.die(error))
    })
  })

/** Writes one line to standard output. */
export const writeLine = (line: string): Effect.Effect<void, OutputClosed> =>
  writeOutput(`${line}\n`)

/** Keeps a closed pipe from ending the process by an event that nobody listens to. */
export const guardOutput: Effect.Effect<void> = Effect.sync(() => {
  process.stdout.on("error", (error) => {
    if (!isClosedPipe(error)) throw error
  })
})

/** JSON of any result: bigints as decimal strings, bytes as base64. */
export const toJson = (value: unknown): string =>
  JSON.stringify(value, (_key, item: unknown) => {
    if (typeof item === "bigint") return item.toString()
    if (item instanceof Uint8Array) return Buffer.from(item).toString("base64")
    return item
  })
