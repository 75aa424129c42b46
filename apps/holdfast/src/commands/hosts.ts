/** `holdfast hosts`: the chunk servers and where they stand. */
import { jsonFlag } from "@holdfast/process"
import { Effect } from "effect"
import { Command } from "effect/cli"
import { connectedLayer, connectionFlags } from "../connection/connect.ts"
import { type HostStatusView, hostsOf } from "../connection/observe-chunks.ts"
import { toJson, writeLine } from "../output/standard-output.ts"
import { formatAge, formatBytes, renderTable } from "../output/table.ts"

const rowOf = (one: HostStatusView) => [
  one.hostId,
  one.rack ?? "-",
  one.live ? "live" : "dead",
  one.devices,
  one.copies,
  formatBytes(one.used),
  formatBytes(one.available),
  `${formatAge(one.lastHeardMs)} ago`
]

/** `holdfast hosts`. */
export const hostsCommand = Command.make(
  "hosts",
  { ...connectionFlags, json: jsonFlag },
  (options) =>
    Effect.gen(function* () {
      const found = yield* hostsOf(options.cluster)
      if (options.json) return yield* writeLine(toJson(found))
      const headings = ["host", "rack", "state", "devices", "copies", "used", "available", "heard"]
      yield* writeLine(renderTable(headings, found.map(rowOf)))
    }).pipe(Effect.provide(connectedLayer(options)))
).pipe(Command.withDescription("The chunk servers, their racks and what their devices hold"))
