/**
 * `holdfast put`: a file of any size into the cluster, as a plain file. Run again after it was
 * killed, it goes on behind what is stored; standard input, which cannot be read twice, does not.
 */
import { FileClient } from "@holdfast/client"
import { jsonFlag, numberFlag } from "@holdfast/process"
import { Effect } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { connectedLayer, connectionFlags } from "../connection/connect.ts"
import { fileView } from "../files/file-view.ts"
import { openSource } from "../files/source.ts"
import { withProgress } from "../files/transfer-progress.ts"
import { toJson, writeLine } from "../output/standard-output.ts"
import { formatBytes } from "../output/table.ts"

const flags = {
  ...connectionFlags,
  json: jsonFlag,
  file: Argument.String("FILE").pipe(
    Argument.withDescription("A file, or - for standard input, which needs --name")
  ),
  name: Flag.String("name").pipe(
    Flag.withDescription("What it is called in the cluster; as the file is called when absent"),
    Flag.optional
  ),
  goal: numberFlag({
    name: "goal",
    description: "Copies of each chunk",
    value: 2,
    least: 1,
    most: 15
  })
}

/** `holdfast put FILE`. */
export const putCommand = Command.make("put", flags, (options) =>
  Effect.gen(function* () {
    const { goal, json } = options
    const files = yield* FileClient
    const source = yield* openSource({ path: options.file, name: options.name })
    const { file, keptChunks, replacedPuts } = yield* Effect.scoped(
      Effect.gen(function* () {
        const { bytes, isRepeatable, name } = source
        const data = yield* withProgress(source.data, { label: name, bytes })
        return yield* files.put({ name, data, goal, resume: isRepeatable })
      })
    )
    const view = fileView(file)
    const copies = goal === 1 ? "one copy" : `${goal} copies`
    const kept = keptChunks === 0 ? "" : ` (${keptChunks} of ${view.chunks} chunks were there)`
    const size = `${formatBytes(view.bytes)}${kept}`
    const done = `stored ${view.name}: ${size}, ${copies}, sha256 ${view.sha256}`
    const puts = replacedPuts === 1 ? "1 earlier put" : `${replacedPuts} earlier puts`
    const replaced = `${puts} of it did not end: what was stored then is freed`
    const said = replacedPuts === 0 ? done : `${done}\n${replaced}`
    yield* writeLine(json ? toJson({ ...view, keptChunks, replacedPuts }) : said)
  })
).pipe(
  Command.withDescription(
    "Store a file; a later one of the same name takes its place; run again, go on where it was cut off"
  ),
  Command.provide((options) => connectedLayer(options))
)
