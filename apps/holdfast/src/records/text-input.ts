/** Which format a file is in: as a flag says, else by its name's ending. */
import type { TextFormat } from "@holdfast/adapter-file"
import { Option } from "effect"
import { Flag } from "effect/cli"

/** The flags that say how text becomes records. */
export const textFlags = {
  format: Flag.Literals("format", ["ndjson", "json", "lines"]).pipe(
    Flag.withDescription(
      "json: the elements of an array; ndjson: a JSON value a line; lines: any text. By the file's ending when absent"
    ),
    Flag.optional
  ),
  path: Flag.String("path").pipe(
    Flag.withDescription(
      "Where the array stands in a JSON document, such as features or data.items"
    ),
    Flag.optional
  )
}

/** The format of an input; standard input without a flag is NDJSON. */
export const formatOf = (options: {
  readonly file: string
  readonly format: Option.Option<"ndjson" | "json" | "lines">
  readonly path: Option.Option<string>
}): TextFormat => {
  const path = Option.match(options.path, {
    onNone: (): ReadonlyArray<string> => [],
    onSome: (text) => text.split(".")
  })
  const format = Option.getOrElse(options.format, () =>
    path.length > 0 ? "json" : byEnding(options.file)
  )
  switch (format) {
    case "json":
      return { _tag: "JsonArray", path }
    case "ndjson":
      return { _tag: "Ndjson" }
    case "lines":
      return { _tag: "Lines" }
  }
}

const byEnding = (file: string): "ndjson" | "json" | "lines" => {
  if (/\.(json|geojson)$/i.test(file)) return "json"
  if (file === "-" || /\.(ndjson|jsonl)$/i.test(file)) return "ndjson"
  return "lines"
}
