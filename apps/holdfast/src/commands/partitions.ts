/** `holdfast partitions`: what a peer holds of the catalogue, and one partition as it is there. */
import { catalogueName } from "@holdfast/catalogue"
import { failure, jsonFlag, numberFlag } from "@holdfast/process"
import { HexKey, PeerId } from "@holdfast/wire"
import { Effect, Option, Schema } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { connectedLayer, connectionFlags } from "../connection/connect.ts"
import { partitionOf, partitionsOf, type PartitionView } from "../connection/observe.ts"
import { toJson, writeLine } from "../output/standard-output.ts"
import { formatBytes, renderPairs, renderTable } from "../output/table.ts"

const isKey = Schema.is(HexKey)
const keyExpected = (given: string): string =>
  `"${given}" is no partition key; right would be 64 digits, 0 to 9 and a to f`

const pageFlags = {
  after: Flag.String("after").pipe(
    Flag.withDescription("Only partitions behind this key"),
    Flag.filter(isKey, keyExpected),
    Flag.optional
  ),
  limit: numberFlag({
    name: "limit",
    description: "So many at most",
    value: 100,
    least: 1,
    most: 1_000
  })
}

const partitions = Command.make("partitions", pageFlags).pipe(
  Command.withSharedFlags({
    ...connectionFlags,
    json: jsonFlag,
    peer: Flag.String("peer").pipe(
      Flag.withDescription("The peer to ask; any when absent"),
      Flag.withSchema(PeerId),
      Flag.optional
    )
  })
)

const describe = (view: PartitionView): string => {
  const pairs = renderPairs([
    ["partition", view.key],
    ["held by", view.peer],
    ["participants", view.participants.length],
    ["pending events", view.pending],
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
  const state = `projected state:\n${JSON.stringify(view.projected, null, 2)}`
  return [pairs, participants, ...(view.tags.length === 0 ? [] : [tags]), state].join("\n\n")
}

const showFlags = {
  key: Argument.String("KEY").pipe(
    Argument.withDescription("The partition's key"),
    Argument.filter(isKey, keyExpected)
  )
}

const show = Command.make("show", showFlags, ({ key }) =>
  Effect.gen(function* () {
    const { cluster, json, ...options } = yield* partitions
    const peer = Option.getOrUndefined(options.peer)
    const found = yield* partitionOf({ cluster, application: catalogueName, peer, key })
    if (Option.isNone(found)) {
      const holds = peer === undefined ? "no live peer holds a" : `${peer} holds no`
      return yield* failure(`${holds} partition ${key}`)
    }
    yield* writeLine(json ? toJson(found.value) : describe(found.value))
  })
).pipe(Command.withDescription("Show one partition: its state, participants and tags"))

/** `holdfast partitions`, and `holdfast partitions show KEY`. */
export const partitionsCommand = partitions.pipe(
  Command.withHandler(({ cluster, json, limit, ...options }) =>
    Effect.gen(function* () {
      const found = yield* partitionsOf({
        cluster,
        application: catalogueName,
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
  Command.withDescription("The partitions of the catalogue that a peer holds, a page at a time"),
  Command.withSubcommands([show]),
  Command.provide((options) => connectedLayer(options))
)
