/** `chunk-server`: one chunk server, its devices, on NATS for control and HTTP for bytes. */
import { natsMessagingLayer } from "@holdfast/adapter-nats"
import {
  clusterFlag,
  dataFlag,
  keyFileFlag,
  macWith,
  natsAccessFlags,
  natsConnections,
  natsFlag,
  readClusterKey,
  serveLayer
} from "@holdfast/process"
import { HostId } from "@holdfast/wire"
import { Config, Effect, Layer, Option } from "effect"
import { Command, Flag } from "effect/cli"

const flags = {
  cluster: clusterFlag,
  nats: natsFlag,
  ...natsAccessFlags,
  keyFile: keyFileFlag,
  data: dataFlag,
  id: Flag.String("id").pipe(
    Flag.withDescription("This host's name, for its whole life"),
    Flag.withFallbackConfig(Config.String("HOLDFAST_HOST")),
    Flag.withSchema(HostId)
  ),
  devices: Flag.String("device").pipe(
    Flag.withDescription("A directory on a disk, repeatable; its last name is the device's"),
    Flag.atLeast(1)
  ),
  format: Flag.Boolean("format").pipe(
    Flag.withDescription("Make devices of the directories that are none yet"),
    Flag.withDefault(false)
  ),
  host: Flag.String("listen-host").pipe(
    Flag.withDescription("The address to listen on"),
    Flag.withDefault("127.0.0.1")
  ),
  port: Flag.Int("listen-port").pipe(
    Flag.withDescription("The port to listen on, 0 for any"),
    Flag.withDefault(0)
  ),
  url: Flag.String("url").pipe(
    Flag.withDescription("The base URL that others reach this server by"),
    Flag.optional
  ),
  reservedMiB: Flag.Int("reserved-mib").pipe(
    Flag.withDescription("MiB of each disk that are never written"),
    Flag.withDefault(256)
  ),
  check: Flag.Boolean("check").pipe(
    Flag.withDescription("Check the configuration and exit"),
    Flag.withDefault(false)
  )
}

/** `holdfast chunk-server`. */
export const chunkServerCommand = Command.make("chunk-server", flags, (options) =>
  Effect.gen(function* () {
    const { cluster, devices, id } = options
    const key = yield* readClusterKey(options.keyFile)
    if (options.check) return
    // The other commands need not wait for the service to load.
    const { formatMissingDevices, runChunkServer } = yield* Effect.promise(
      () => import("./chunk-server-process.ts")
    )
    if (options.format) yield* formatMissingDevices({ cluster, directories: devices })
    const running = Layer.effectDiscard(
      runChunkServer({
        cluster,
        host: id,
        mac: macWith(key),
        stateDirectory: options.data,
        devices,
        listen: { host: options.host, port: options.port },
        ...(Option.isSome(options.url) ? { advertisedUrl: options.url.value } : {}),
        reservedBytes: options.reservedMiB * 1024 * 1024
      })
    ).pipe(
      Layer.provide(natsMessagingLayer()),
      Layer.provide(natsConnections(options, `holdfast-chunk-server-${id}`))
    )
    yield* serveLayer(`chunk server ${id}`, running)
  })
).pipe(Command.withDescription("Run a chunk server: it holds chunk copies on its devices"))
