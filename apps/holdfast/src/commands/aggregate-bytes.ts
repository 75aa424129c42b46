/** The bytes of an input, within a limit: as they are, or out of base64. */
import { createReadStream } from "node:fs"
import { CommandFailure, failure } from "@holdfast/process"
import { Effect } from "effect"

/** More than any aggregated record takes, in base64 as well, or the lines it is made of. */
export const inputBytesMost = 64 * 1_024 * 1_024

const named = (file: string): string => (file === "-" ? "standard input" : file)

/** Reads a file, or standard input for `-`, to its end. */
export const readInput = (file: string): Effect.Effect<Uint8Array, CommandFailure> =>
  Effect.tryPromise({
    try: async (signal) => {
      const input = file === "-" ? process.stdin : createReadStream(file, { signal })
      const chunks: Array<Uint8Array> = []
      let bytes = 0
      for await (const chunk of input) {
        const taken: Uint8Array = typeof chunk === "string" ? Buffer.from(chunk) : chunk
        bytes += taken.length
        if (bytes > inputBytesMost) {
          throw failure(`${named(file)} has more than ${inputBytesMost} bytes, which is the limit`)
        }
        chunks.push(taken)
      }
      return Buffer.concat(chunks)
    },
    catch: (error) =>
      error instanceof CommandFailure
        ? error
        : failure(
            `${named(file)} cannot be read: ${error instanceof Error ? error.message : String(error)}`
          )
  })

const base64Text = /^[A-Za-z0-9+/]+={0,2}$/

/** The bytes of a text in base64, with a whole number of groups; none when it is no such text. */
export const fromBase64 = (text: string): Uint8Array | undefined =>
  text.length % 4 === 0 && (text === "" || base64Text.test(text))
    ? Buffer.from(text, "base64")
    : undefined

/** What an input stands for: what its base64 says, where it is nothing but that; else itself. */
export const recordBytes = (input: Uint8Array): Uint8Array => {
  const text = Buffer.from(input).toString("latin1").replaceAll(/\s/g, "")
  return (text === "" ? undefined : fromBase64(text)) ?? input
}

/** An input as text; bytes that are not UTF-8 would otherwise be changed in silence. */
export const textOfInput = (input: Uint8Array): Effect.Effect<string, CommandFailure> =>
  Effect.try({
    try: () => new TextDecoder("utf-8", { fatal: true }).decode(input),
    catch: () => failure("the input is not UTF-8; JSON lines would be right")
  })
