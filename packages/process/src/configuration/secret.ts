/** A secret as it was said, or as a file of its owner's holds it. */
import { Effect, Redacted, Result } from "effect"
import { type CommandFailure, failure } from "../command-failure.ts"
import { readSmallFile } from "./small-file.ts"

const othersMayRead = 0o077

/** The secret; fails when its file is missing, empty, or may be read by others. */
export const secretOf = (
  value: string | undefined,
  file: string | undefined
): Effect.Effect<Redacted.Redacted | undefined, CommandFailure> =>
  Effect.gen(function* () {
    if (value !== undefined) return Redacted.make(value)
    if (file === undefined) return undefined
    const read = readSmallFile(file)
    if (Result.isFailure(read)) return yield* failure(read.failure)
    const { mode, text } = read.success
    if ((mode & othersMayRead) !== 0) {
      return yield* failure(`${file} may be read by others; run: chmod 600 ${file}`)
    }
    const secret = text.trim()
    return secret === "" ? yield* failure(`${file} is empty`) : Redacted.make(secret)
  })
