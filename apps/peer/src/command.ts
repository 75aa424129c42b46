/** `peer`: one peer on NATS. */
import { natsMessagingLayer } from "@holdfast/adapter-nats"
import { dataFlag, failure, natsConnections, numberFlag, serviceFlags } from "@holdfast/process"
import { PeerId } from "@holdfast/wire"
import { Config, Effect, Layer, Option } from "effect"
import { Command, Flag } from "effect/cli"

const flags = {
  ...serviceFlags,
  data: dataFlag,
  id: Flag.String("id").pipe(
    Flag.withDescription("This peer's name"),
    Flag.withFallbackConfig(Config.String("HOLDFAST_PEER")),
    Flag.withSchema(PeerId)
  ),
  peers: Flag.String("peers").pipe(
    Flag.withDescription(
      "The peers that found the cluster, comma separated, equal for each of them"
    ),
    Flag.withFallbackConfig(Config.String("HOLDFAST_PEERS")),
    Flag.optional
  ),
  join: Flag.Boolean("join").pipe(
    Flag.withDescription("Join a cluster that runs already, instead of founding one with --peers"),
    Flag.withDefault(false)
  ),
  weight: numberFlag({
    name: "weight",
    description: "With --join: its share of the load against the others', which have 1 each",
    value: 1,
    least: 1,
    most: 1_000_000
  }),
  zone: Flag.String("zone").pipe(
    Flag.withDescription("With --join: the rack or building; copies of a key avoid sharing one"),
    Flag.optional
  )
}

const parsePeers = (text: string) =>
  Effect.forEach(text.split(","), (name) =>
    PeerId.makeEffect(name.trim()).pipe(
      Effect.mapError(() => failure(`--peers names "${name}"; names have letters, digits, - and _`))
    )
  )

/** The founders; none for a peer that joins. */
const foundersOf = Effect.fnUntraced(function* (options: {
  readonly id: PeerId
  readonly join: boolean
  readonly peers: Option.Option<string>
}) {
  if (options.join) return []
  if (Option.isNone(options.peers)) {
    return yield* failure(
      "name the peers that found the cluster with --peers, or join one by --join"
    )
  }
  const founders = yield* parsePeers(options.peers.value)
  if (founders.includes(options.id)) return founders
  return yield* failure(
    `--peers must name ${options.id} as well; to join a cluster that runs already say --join`
  )
})

const capacityOf = (options: {
  readonly weight: number
  readonly zone: Option.Option<string>
}) => ({
  weight: options.weight,
  ...(Option.isNone(options.zone) ? {} : { zone: options.zone.value })
})

/** `holdfast peer`. */
export const peerCommand = Command.make("peer", flags, (options) =>
  Effect.gen(function* () {
    const founders = yield* foundersOf(options)
    if (options.check) return
    // The other commands need not wait for the service to load.
    const { peerProcess, servePeer } = yield* Effect.promise(() => import("./peer-process.ts"))
    const running = peerProcess({
      cluster: options.cluster,
      peer: options.id,
      founders,
      ...(options.join ? { capacity: capacityOf(options) } : {}),
      directory: options.data
    }).pipe(
      Layer.provide(natsMessagingLayer()),
      Layer.provide(natsConnections(options, `holdfast-peer-${options.id}`))
    )
    yield* servePeer(options.id, running)
  })
).pipe(Command.withDescription("Run a peer: it holds and searches the catalogue"))
