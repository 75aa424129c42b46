/** `holdfast get`: a plain file, or some of its bytes, to standard output or into a file. */
import { FileClient, type FileRange } from "@holdfast/client"
import { failure, jsonFlag } from "@holdfast/process"
import { Effect, Option, Stream } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { connectedLayer, connectionFlags } from "../connection/connect.ts"
import { writeTo } from "../files/destination.ts"
import { withProgress } from "../files/transfer-progress.ts"
import { toJson, writeLine, writeOutput } from "../output/standard-output.ts"
import { formatBytes } from "../output/table.ts"

const flags = {
  ...connectionFlags,
  json: jsonFlag,
  name: Argument.String("NAME").pipe(Argument.withDescription("The file's name in the cluster")),
  out: Flag.String("out").pipe(
    Flag.withDescription("The file to write; standard output when absent"),
    Flag.optional
  ),
  from: Flag.Int("from").pipe(
    Flag.withDescription("The first byte, counted from 0"),
    Flag.optional
  ),
  to: Flag.Int("to").pipe(Flag.withDescription("The last byte, included"), Flag.optional)
}

/** The bytes, with a bar unless they themselves go to the terminal. */
const readFile = Effect.fnUntraced(function* (options: {
  readonly name: string
  readonly range: FileRange
  readonly isSilent: boolean
}) {
  const { isSilent, name, range } = options
  const files = yield* FileClient
  const data = files.get(name, range)
  if (isSilent) return data
  const { bytes } = yield* files.show(name)
  const { from = 0, to = bytes - 1 } = range
  const wanted = Math.max(Math.min(to, bytes - 1) + 1 - from, 0)
  return yield* withProgress(data, { label: name, bytes: wanted })
})

/** `holdfast get NAME`. */
export const getCommand = Command.make("get", flags, ({ json, name, out, ...options }) =>
  Effect.scoped(
    Effect.gen(function* () {
      if (json && Option.isNone(out)) {
        return yield* failure("--json goes with --out: standard output carries the file itself")
      }
      const { from, to } = options
      const range = { from: Option.getOrUndefined(from), to: Option.getOrUndefined(to) }
      const isSilent = Option.isNone(out) && process.stdout.isTTY
      const data = yield* readFile({ name, range, isSilent })
      if (Option.isNone(out)) return yield* Stream.runForEach(data, writeOutput)
      const bytes = yield* writeTo(out.value, data)
      const done = `${name} is in ${out.value}: ${formatBytes(bytes)}`
      yield* writeLine(json ? toJson({ name, out: out.value, bytes }) : done)
    })
  )
).pipe(
  Command.withDescription("Read a file, or a range of its bytes; its digest is checked"),
  Command.provide((options) => connectedLayer(options))
)
