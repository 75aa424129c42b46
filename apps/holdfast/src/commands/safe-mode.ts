/** `holdfast safe-mode`: whether chunks may be changed, and an operator's word on it. */
import { jsonFlag } from "@holdfast/process"
import { MetadataOperations } from "@holdfast/wire"
import { Effect } from "effect"
import { Command } from "effect/cli"
import { ask } from "../connection/ask.ts"
import { connectedLayer, connectionFlags } from "../connection/connect.ts"
import { metadataStatus } from "../connection/observe.ts"
import { toJson, writeLine } from "../output/standard-output.ts"

const safeMode = Command.make("safe-mode").pipe(
  Command.withSharedFlags({ ...connectionFlags, json: jsonFlag })
)

const askSafeMode = ask(MetadataOperations.safeMode)

const act = (action: "enter" | "leave" | "force", description: string) =>
  Command.make(action, {}, () =>
    Effect.gen(function* () {
      const { cluster, json } = yield* safeMode
      const { tip } = yield* askSafeMode({ cluster, request: { action } })
      yield* writeLine(json ? toJson({ action, tip }) : tip)
    })
  ).pipe(Command.withDescription(description))

/** `holdfast safe-mode`, and `holdfast safe-mode enter|leave|force`. */
export const safeModeCommand = safeMode.pipe(
  Command.withHandler(({ cluster, json }) =>
    Effect.gen(function* () {
      const status = yield* metadataStatus(cluster)
      const { phase, tip } = status.safeMode
      yield* writeLine(json ? toJson(status.safeMode) : `${phase}: ${tip}`)
    })
  ),
  Command.withDescription("Whether chunks may be written, repaired and deleted now"),
  Command.withSubcommands([
    act("enter", "Change nothing until it is left: no repair, no deletion"),
    act("leave", "Leave safe mode, where everything needed is there"),
    act("force", "Leave it although the record may be older than the data")
  ]),
  Command.provide((options) => connectedLayer(options))
)
