/** `holdfast ls`: the plain files of the cluster, by name. */
import { FileClient } from "@holdfast/client"
import { jsonFlag } from "@holdfast/process"
import { Effect, Stream } from "effect"
import { Argument, Command } from "effect/cli"
import { connectedLayer, connectionFlags } from "../connection/connect.ts"
import { fileView } from "../files/file-view.ts"
import { toJson, writeLine } from "../output/standard-output.ts"
import { formatBytes, renderTable } from "../output/table.ts"

const flags = {
  ...connectionFlags,
  json: jsonFlag,
  prefix: Argument.String("PREFIX").pipe(
    Argument.withDescription("Only files whose names begin so"),
    Argument.withDefault("")
  )
}

/** `holdfast ls [PREFIX]`. */
export const lsCommand = Command.make("ls", flags, ({ json, prefix }) =>
  Effect.gen(function* () {
    const files = yield* FileClient
    const found = yield* files.list(prefix).pipe(Stream.map(fileView), Stream.runCollect)
    if (json) return yield* writeLine(toJson(found))
    const rows = found.map(({ bytes, chunks, goal, name, stored }) => [
      name,
      formatBytes(bytes),
      chunks,
      goal,
      stored.slice(0, "2026-01-01T00:00:00".length)
    ])
    yield* writeLine(renderTable(["file", "size", "chunks", "copies", "stored (UTC)"], rows))
  })
).pipe(
  Command.withDescription("List the files, by name"),
  Command.provide((options) => connectedLayer(options))
)
