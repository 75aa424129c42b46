/** The options of a pipeline as an operator types them: JSON, or a file that holds it. */
import { readFile } from "node:fs/promises"
import { type CommandFailure, failure, firstLine } from "@holdfast/process"
import { Effect, Schema } from "effect"

const decodeJson = Schema.decodeUnknownEffect(Schema.fromJsonString(Schema.Unknown))

/** Options as they are typed: JSON that begins with a brace, or a file that holds it. */
export const readOptions = Effect.fnUntraced(function* (
  flag: string,
  typed: string
): Effect.fn.Return<unknown, CommandFailure> {
  const isJson = typed.trimStart().startsWith("{")
  const text = isJson
    ? typed
    : yield* Effect.tryPromise({
        try: () => readFile(typed, "utf8"),
        catch: (error) =>
          failure(
            `${flag} is "${typed}", which cannot be read (${firstLine(error)}); right would be ` +
              `'{"name": value}' or a file that holds that`
          )
      })
  return yield* decodeJson(text).pipe(
    Effect.mapError((error) =>
      failure(
        `${flag} is no JSON: ${error.message.replaceAll(/\s*\n\s*/g, " ")}; right would be '{"name": value}'`
      )
    )
  )
})
