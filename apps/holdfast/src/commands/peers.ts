/** `holdfast peers`: who holds the catalogue, and what one of them says of itself. */
import { jsonFlag } from "@holdfast/process"
import { PeerId, type PeerOperations } from "@holdfast/wire"
import { Effect } from "effect"
import { Argument, Command } from "effect/cli"
import { connectedLayer, connectionFlags } from "../connection/connect.ts"
import { peersOf, type PeerStatusView, peerStatusOf } from "../connection/observe.ts"
import { toJson, writeLine } from "../output/standard-output.ts"
import { formatAge, formatBytes, renderPairs, renderTable } from "../output/table.ts"

const peers = Command.make("peers").pipe(
  Command.withSharedFlags({ ...connectionFlags, json: jsonFlag })
)

const renderPeers = (found: ReadonlyArray<typeof PeerOperations.PeerStatus.Type>): string =>
  renderTable(
    ["peer", "state", "heard", "behind in partitions"],
    found.map((one) => [
      one.peer,
      one.live ? "live" : "silent",
      one.lastHeardMs === undefined ? "never" : `${formatAge(one.lastHeardMs)} ago`,
      one.divergentPartitions
    ])
  )

const describe = (status: PeerStatusView): string => {
  const own = renderPairs([
    ["peer", status.peer],
    ["incarnation", status.incarnation],
    ["boot", status.boot],
    ["epoch", status.epoch],
    ...status.applications.map(
      ({ bytes, name, partitions }) =>
        [name, `${partitions} partitions, ${formatBytes(bytes)}`] as const
    ),
    ["partitions in memory", status.workers],
    ["pending events", status.pendingEvents],
    ["quarantined partitions", status.quarantined]
  ])
  return status.peers.length === 0
    ? own
    : `${own}\n\nThe others, as it sees them:\n${renderPeers(status.peers)}`
}

const showFlags = {
  peer: Argument.String("ID").pipe(
    Argument.withDescription("The peer's id"),
    Argument.withSchema(PeerId)
  )
}

const show = Command.make("show", showFlags, ({ peer }) =>
  Effect.gen(function* () {
    const { cluster, json } = yield* peers
    const status = yield* peerStatusOf({ cluster, peer })
    yield* writeLine(json ? toJson(status) : describe(status))
  })
).pipe(Command.withDescription("Show one peer, and the others as it sees them"))

/** `holdfast peers`, and `holdfast peers show ID`. */
export const peersCommand = peers.pipe(
  Command.withHandler(({ cluster, json }) =>
    Effect.flatMap(peersOf(cluster), (found) =>
      writeLine(json ? toJson(found) : renderPeers(found))
    )
  ),
  Command.withDescription("The peers that hold the catalogue"),
  Command.withSubcommands([show]),
  Command.provide((options) => connectedLayer(options))
)
