/** The bytes of an input, within a limit: as they are, or out of base64. */
import { type CommandFailure, failure } from "@holdfast/process"
import { Effect, Stream } from "effect"
import { inputBytes, inputName } from "../files/source.ts"

/** More than any aggregated record takes, in base64 as well, or the lines it is made of. */
export const inputBytesMost = 64 * 1_024 * 1_024

/** Reads a file, or standard input for `-`, to its end. */
export const readInput = Effect.fnUntraced(function* (
  file: string
): Effect.fn.Return<Uint8Array, CommandFailure> {
  const pieces: Array<Uint8Array> = []
  let bytes = 0
  yield* Stream.runForEach(inputBytes(file), (piece) => {
    bytes += piece.length
    if (bytes > inputBytesMost) {
      return failure(`${inputName(file)} has more than ${inputBytesMost} bytes, which is the limit`)
    }
    pieces.push(piece)
    return Effect.void
  })
  return Buffer.concat(pieces)
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
