/** `peer`: one peer on NATS. */
import { natsMessagingLayer } from "@holdfast/adapter-nats"
import {
  booleanSetting,
  clusterSettings,
  dataSetting,
  failure,
  natsConnections,
  natsOptionsOf,
  natsSettings,
  numberSetting,
  optionalList,
  optionalText,
  PlainText,
  requiredText,
  serviceCommand,
  type SettingValues,
  timeSetting
} from "@holdfast/process"
import { PeerId } from "@holdfast/wire"
import { Effect, Layer } from "effect"
import { observePeer } from "./observations.ts"

const settings = {
  ...clusterSettings,
  ...natsSettings,
  data: dataSetting,
  id: requiredText(PeerId, { description: "This peer's name", variables: ["HOLDFAST_PEER"] }),
  peers: optionalList(PeerId, {
    description: "The peers that found the cluster, comma separated, equal for each of them",
    variables: ["HOLDFAST_PEERS"]
  }),
  join: booleanSetting({
    description: "Join a cluster that runs already, instead of founding one with --peers"
  }),
  reintegrate: booleanSetting({
    description: "If it was ejected: hand over what only its store holds, empty it, and join again"
  }),
  ejectSilentMs: timeSetting({
    description: "A member silent for so long is ejected while most are there; 0 for never",
    value: 0
  }),
  weight: numberSetting({
    description: "With --join: its share of the load against the others', which have 1 each",
    value: 1,
    least: 1,
    most: 1_000_000
  }),
  zone: optionalText(PlainText, {
    description: "With --join: the rack or building; copies of a key avoid sharing one"
  }),
  application: optionalList(PlainText, {
    description:
      "An application to host beside the catalogue, repeatable: counter, registers or a module's path",
    variables: ["HOLDFAST_APPLICATIONS"]
  })
}

type Values = SettingValues<typeof settings>

/** The founders; none for a peer that joins. */
const foundersOf = Effect.fnUntraced(function* ({ id, join, peers }: Values) {
  if (join) return []
  if (peers === undefined) {
    return yield* failure(
      "name the peers that found the cluster with --peers, or join one by --join"
    )
  }
  if (peers.includes(id)) return peers
  return yield* failure(
    `--peers must name ${id} as well; to join a cluster that runs already say --join`
  )
})

const capacityOf = ({ weight, zone }: Values) => ({
  weight,
  ...(zone === undefined ? {} : { zone })
})

/** `holdfast peer`. */
export const peerCommand = serviceCommand({
  name: "peer",
  description: "Run a peer: it holds and searches the catalogue",
  settings,
  prepare: (values) =>
    Effect.gen(function* () {
      const { cluster, data, ejectSilentMs, id, join, reintegrate } = values
      const connection = `holdfast-peer-${id}`
      const founders = yield* foundersOf(values)
      yield* natsOptionsOf(values, connection)
      // The other commands need not wait for the service to load.
      const { peerProcess, servePeer } = yield* Effect.promise(() => import("./peer-process.ts"))
      const { loadApplications } = yield* Effect.promise(() => import("./load-application.ts"))
      const applications = yield* loadApplications(values.application ?? [])
      const layer = peerProcess({
        cluster,
        peer: id,
        founders,
        applications,
        ...(join ? { capacity: capacityOf(values) } : {}),
        directory: data,
        isReintegrated: reintegrate,
        times: { ejectSilentMillis: ejectSilentMs === 0 ? Infinity : ejectSilentMs }
      }).pipe(
        Layer.provideMerge(natsMessagingLayer()),
        Layer.provide(natsConnections(values, connection))
      )
      const start = Effect.map(Layer.build(layer), (context) => ({
        observations: observePeer({ cluster, peer: id, context }),
        serve: servePeer(id, context)
      }))
      return { label: `peer ${id}`, start }
    })
})
