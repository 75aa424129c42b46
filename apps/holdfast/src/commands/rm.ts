/** `holdfast rm`: the end of a plain file, and of its chunks. */
import { FileClient } from "@holdfast/client"
import { jsonFlag } from "@holdfast/process"
import { Effect } from "effect"
import { Argument, Command } from "effect/cli"
import { connectedLayer, connectionFlags } from "../connection/connect.ts"
import { toJson, writeLine } from "../output/standard-output.ts"

const flags = {
  ...connectionFlags,
  json: jsonFlag,
  name: Argument.String("NAME").pipe(Argument.withDescription("The file's name in the cluster"))
}

/** `holdfast rm NAME`. */
export const rmCommand = Command.make("rm", flags, ({ json, name }) =>
  Effect.gen(function* () {
    const files = yield* FileClient
    yield* files.remove(name)
    yield* writeLine(json ? toJson({ name, removed: true }) : `${name} is removed`)
  })
).pipe(
  Command.withDescription("Remove a file, and puts of it that did not end, and free their chunks"),
  Command.provide((options) => connectedLayer(options))
)
