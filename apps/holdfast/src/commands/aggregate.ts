/** `holdfast aggregate`: what is in an aggregated record of the KPL, and making one by hand. */
import { Effect } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { writeLine, writeOutput } from "../output/standard-output.ts"
import { readInput, recordBytes, textOfInput } from "./aggregate-bytes.ts"
import { aggregateOfLines, formatNames, linesOfAggregate } from "./aggregate-lines.ts"

const decode = Command.make(
  "decode",
  {
    file: Argument.String("FILE").pipe(
      Argument.withDescription("One record, binary or in base64; - for standard input")
    ),
    privateFormats: Flag.Boolean("private").pipe(
      Flag.withDescription("Open the two private formats as well (first byte 00 or 01)"),
      Flag.withDefault(false)
    )
  },
  ({ file, privateFormats }) =>
    Effect.gen(function* () {
      const bytes = recordBytes(yield* readInput(file))
      const lines = yield* Effect.fromResult(
        linesOfAggregate(bytes, { opensPrivateFormats: privateFormats })
      )
      yield* writeOutput(lines.map((line) => `${line}\n`).join(""))
    })
).pipe(Command.withDescription("Print the user records of an aggregated record as JSON lines"))

const encode = Command.make(
  "encode",
  {
    file: Argument.String("FILE").pipe(
      Argument.withDescription("User records as JSON lines; - for standard input")
    ),
    format: Flag.Literals("format", formatNames).pipe(
      Flag.withDescription("standard, or a private one: hidden (00) or deflated (01)"),
      Flag.withDefault("standard" as const)
    ),
    binary: Flag.Boolean("binary").pipe(
      Flag.withDescription("Write the bytes as they are, not base64"),
      Flag.withDefault(false)
    )
  },
  ({ binary, file, format }) =>
    Effect.gen(function* () {
      const text = yield* textOfInput(yield* readInput(file))
      const bytes = yield* Effect.fromResult(aggregateOfLines(text, { format }))
      yield* binary ? writeOutput(bytes) : writeLine(Buffer.from(bytes).toString("base64"))
    })
).pipe(Command.withDescription("Make one aggregated record of JSON lines"))

/** `holdfast aggregate ...`. */
export const aggregateCommand = Command.make("aggregate").pipe(
  Command.withDescription("Look into aggregated records of the KPL, and make them"),
  Command.withSubcommands([decode, encode])
)
