/** `holdfast peers`: who holds the catalogue, and what one of them says of itself. */
import { failure, jsonFlag } from "@holdfast/process"
import { PeerId, type PeerOperations } from "@holdfast/wire"
import { Effect } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { connectedLayer, connectionFlags } from "../connection/connect.ts"
import {
  ejectPeer,
  leavePeer,
  type PeerClusterView,
  peerClusterOf,
  peersOf,
  type PeerStatusView,
  peerStatusOf
} from "../connection/observe.ts"
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

const renderCluster = (view: PeerClusterView): string => {
  const members = renderTable(
    ["peer", "life", "state", "phase", "weight", "zone", "share of copies"],
    view.members.map((one) => [
      one.peer,
      one.incarnation,
      one.live ? "live" : "silent",
      one.phase,
      one.weight,
      one.zone ?? "-",
      `${(one.share * 100).toFixed(1)} %`
    ])
  )
  const { gone, pending, step, sweeping, waitingFor } = view
  const lines = [
    step === null
      ? "Nothing is on its way."
      : `Step ${step.ordinal}: keys go to ${step.gaining.join(", ")}; ` +
        `${step.gained.length === 0 ? "nobody has" : `${step.gained.join(", ")} have`} them yet.`,
    ...(sweeping.length === 0
      ? []
      : [`Not compared with all since keys moved: ${sweeping.join(", ")}.`]),
    ...(pending === 0
      ? []
      : [`Changes not agreed on yet: ${pending}; waiting for ${waitingFor.join(", ")}.`]),
    ...gone.map(({ how, incarnation, peer }) => `${peer} (life ${incarnation}) has ${goneAs[how]}.`)
  ]
  return `epoch ${view.epoch}, ${view.factor} copies of each key\n${members}\n\n${lines.join("\n")}`
}

const goneAs = { left: "left", ejected: "been ejected" } as const

const cluster = Command.make("cluster", {}, () =>
  Effect.gen(function* () {
    const { cluster: name, json } = yield* peers
    const view = yield* peerClusterOf(name)
    yield* writeLine(json ? toJson(view) : renderCluster(view))
  })
).pipe(Command.withDescription("What the peers agree on: members, shares, keys on their way"))

const leave = Command.make("leave", showFlags, ({ peer }) =>
  Effect.gen(function* () {
    const { cluster: name, json } = yield* peers
    yield* leavePeer({ cluster: name, peer })
    const next = "its process ends when the others hold what it owned"
    yield* writeLine(json ? toJson({ peer, phase: "leaving" }) : `${peer} leaves; ${next}`)
  })
).pipe(Command.withDescription("Let a peer give away what it owns, and go"))

const ejectFlags = {
  ...showFlags,
  force: Flag.Boolean("force").pipe(
    Flag.withDescription("Also where a majority is gone: the peers that are left go on without it"),
    Flag.withDefault(false)
  ),
  yes: Flag.Boolean("yes").pipe(
    Flag.withDescription(
      "Yes: what this peer alone holds is lost, and it never comes back as it is"
    ),
    Flag.withDefault(false)
  )
}

const eject = Command.make("eject", ejectFlags, ({ force, peer, yes }) =>
  Effect.gen(function* () {
    const { cluster: name, json } = yield* peers
    if (!yes) {
      return yield* failure(
        `what ${peer} alone holds is lost when it is ejected, and its store cannot be used again: ` +
          "say --yes; a peer that runs gives everything away by `peers leave`"
      )
    }
    yield* ejectPeer({ cluster: name, peer, force })
    const next = "what it held is copied from the others"
    yield* writeLine(json ? toJson({ peer, phase: "ejected" }) : `${peer} is ejected; ${next}`)
  })
).pipe(Command.withDescription("Put a peer out that will not come back"))

/** `holdfast peers`, and `holdfast peers show|leave|eject ID`, `holdfast peers cluster`. */
export const peersCommand = peers.pipe(
  Command.withHandler(({ cluster, json }) =>
    Effect.flatMap(peersOf(cluster), (found) =>
      writeLine(json ? toJson(found) : renderPeers(found))
    )
  ),
  Command.withDescription("The peers that hold the catalogue"),
  Command.withSubcommands([show, cluster, leave, eject]),
  Command.provide((options) => connectedLayer(options))
)
