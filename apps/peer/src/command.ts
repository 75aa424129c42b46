/** `peer`: one peer on NATS. */
import { natsMessagingLayer } from "@holdfast/adapter-nats"
import { dataFlag, failure, natsConnections, serveLayer, serviceFlags } from "@holdfast/process"
import { PeerId } from "@holdfast/wire"
import { Config, Effect, Layer } from "effect"
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
    Flag.withDescription("The names of all peers, comma separated, the same for each of them"),
    Flag.withFallbackConfig(Config.String("HOLDFAST_PEERS"))
  )
}

const parsePeers = (text: string) =>
  Effect.forEach(text.split(","), (name) =>
    PeerId.makeEffect(name.trim()).pipe(
      Effect.mapError(() => failure(`--peers names "${name}"; names have letters, digits, - and _`))
    )
  )

/** `holdfast peer`. */
export const peerCommand = Command.make("peer", flags, (options) =>
  Effect.gen(function* () {
    const peers = yield* parsePeers(options.peers)
    if (!peers.includes(options.id)) {
      return yield* failure(`--peers must name all peers, ${options.id} as well`)
    }
    if (options.check) return
    // The other commands need not wait for the service to load.
    const { peerProcess } = yield* Effect.promise(() => import("./peer-process.ts"))
    const running = peerProcess({
      cluster: options.cluster,
      peer: options.id,
      peers,
      directory: options.data
    }).pipe(
      Layer.provide(natsMessagingLayer()),
      Layer.provide(natsConnections(options, `holdfast-peer-${options.id}`))
    )
    yield* serveLayer(`peer ${options.id}`, running)
  })
).pipe(Command.withDescription("Run a peer: it holds and searches the catalogue"))
