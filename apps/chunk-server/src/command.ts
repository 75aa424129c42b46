/** `chunk-server`: one chunk server, its devices, on NATS for control and HTTP for bytes. */
import { natsMessagingLayer } from "@holdfast/adapter-nats"
import {
  dataFlag,
  keyFileFlag,
  natsConnections,
  numberFlag,
  openKeyRing,
  readClusterKeys,
  serveLayer,
  serviceFlags
} from "@holdfast/process"
import { HostId, RackName } from "@holdfast/wire"
import { Config, Effect, Layer, Option } from "effect"
import { Command, Flag } from "effect/cli"

const flags = {
  ...serviceFlags,
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
  port: numberFlag({
    name: "listen-port",
    description: "The port to listen on, 0 for any",
    value: 0,
    least: 0,
    most: 65_535
  }),
  url: Flag.String("url").pipe(
    Flag.withDescription("The base URL that others reach this server by"),
    Flag.optional
  ),
  rack: Flag.String("rack").pipe(
    Flag.withDescription("Where this host stands, for copies on distinct racks"),
    Flag.withFallbackConfig(Config.String("HOLDFAST_RACK")),
    Flag.withSchema(RackName),
    Flag.optional
  ),
  reservedMiB: numberFlag({
    name: "reserved-mib",
    description: "MiB of each disk that are never written",
    value: 256,
    least: 0,
    most: 1_000_000_000
  })
}

/** `holdfast chunk-server`. */
export const chunkServerCommand = Command.make("chunk-server", flags, (options) =>
  Effect.gen(function* () {
    const { cluster, devices, id } = options
    if (options.check) return void (yield* readClusterKeys(options.keyFile))
    const ring = yield* openKeyRing(options.keyFile)
    // The other commands need not wait for the service to load.
    const { formatMissingDevices, runChunkServer } = yield* Effect.promise(
      () => import("./chunk-server-process.ts")
    )
    if (options.format) yield* formatMissingDevices({ cluster, directories: devices })
    const running = Layer.effectDiscard(
      runChunkServer({
        cluster,
        host: id,
        ring,
        stateDirectory: options.data,
        devices,
        listen: { host: options.host, port: options.port },
        ...(Option.isSome(options.url) ? { advertisedUrl: options.url.value } : {}),
        ...(Option.isSome(options.rack) ? { rack: options.rack.value } : {}),
        reservedBytes: options.reservedMiB * 1024 * 1024
      })
    ).pipe(
      Layer.provide(natsMessagingLayer()),
      Layer.provide(natsConnections(options, `holdfast-chunk-server-${id}`))
    )
    yield* serveLayer(`chunk server ${id}`, running)
  }).pipe(Effect.scoped)
).pipe(Command.withDescription("Run a chunk server: it holds chunk copies on its devices"))
