/** `holdfast partitions`: what a peer holds of an application, and one partition as it is there. */
import { failure } from "@holdfast/process"
import { Effect, Option } from "effect"
import { Command } from "effect/cli"
import { connectedLayer } from "../connection/connect.ts"
import { partitionOf, partitionsOf, type PartitionView } from "../connection/observe.ts"
import { toJson, writeLine } from "../output/standard-output.ts"
import { formatBytes, renderPairs, renderTable } from "../output/table.ts"
import { indexCommand, readCommand, requestCommand } from "./partition-requests.ts"
import { keyArgument, partitions } from "./partitions-flags.ts"

const describe = (view: PartitionView): string => {
  const pairs = renderPairs([
    ["partition", view.key],
    ["held by", view.peer],
    ["participants", view.participants.length],
    ["born under epoch", `${view.birthEpoch}${view.isProvisional ? ", not confirmed yet" : ""}`],
    ["pending entries", view.pending],
    ["divergent", view.divergent.length]
  ])
  const behind = new Set(view.divergent)
  const participants = renderTable(
    ["participant", "state"],
    view.participants.map((one) => [one, behind.has(one) ? "divergent" : "has everything"])
  )
  const tags = renderTable(
    ["tag"],
    view.tags.map((tag) => [tag])
  )
  const history = renderTable(
    ["pending", "what", "held by"],
    view.history.map(({ events, heldBy, id, kind, participant = "" }) => [
      id,
      kind === "event" ? JSON.stringify(events) : `${kind} ${participant}`.trim(),
      heldBy.join(", ")
    ])
  )
  const state = `projected state:\n${JSON.stringify(view.projected, null, 2)}`
  return [
    pairs,
    participants,
    ...(view.history.length === 0 ? [] : [history]),
    ...(view.tags.length === 0 ? [] : [tags]),
    state
  ].join("\n\n")
}

const show = Command.make("show", { key: keyArgument }, ({ key }) =>
  Effect.gen(function* () {
    const { application, cluster, json, ...options } = yield* partitions
    const peer = Option.getOrUndefined(options.peer)
    const found = yield* partitionOf({ cluster, application, peer, key })
    if (Option.isNone(found)) {
      const holds = peer === undefined ? "no live peer holds a" : `${peer} holds no`
      return yield* failure(`${holds} partition ${key}`)
    }
    yield* writeLine(json ? toJson(found.value) : describe(found.value))
  })
).pipe(
  Command.withDescription("Show one partition: its state, participants, pending history and tags")
)

/** `holdfast partitions`, and its subcommands. */
export const partitionsCommand = partitions.pipe(
  Command.withHandler(({ application, cluster, json, limit, ...options }) =>
    Effect.gen(function* () {
      const found = yield* partitionsOf({
        cluster,
        application,
        peer: Option.getOrUndefined(options.peer),
        after: Option.getOrUndefined(options.after),
        limit
      })
      if (json) return yield* writeLine(toJson(found))
      const rows = found.partitions.map(({ bytes, damaged, key }) => [
        key,
        formatBytes(bytes),
        damaged ?? "intact"
      ])
      yield* writeLine(renderTable([`held by ${found.peer}`, "size", "state"], rows))
      const last = found.partitions.at(-1)?.key
      if (!found.more || last === undefined) return
      yield* writeLine(`\nmore follow: --peer ${found.peer} --after ${last}`)
    })
  ),
  Command.withDescription("The partitions that a peer holds, a page at a time"),
  Command.withSubcommands([show, requestCommand, readCommand, indexCommand]),
  Command.provide((options) => connectedLayer(options))
)
