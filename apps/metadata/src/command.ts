/** `metadata`: the metadata service on NATS. */
import { natsMessagingLayer } from "@holdfast/adapter-nats"
import {
  clusterFlag,
  dataFlag,
  failure,
  keyFileFlag,
  macWith,
  natsAccessFlags,
  natsConnections,
  natsFlag,
  readClusterKey,
  serveLayer
} from "@holdfast/process"
import { Effect, Layer } from "effect"
import { Command, Flag } from "effect/cli"

const time = (name: string, description: string, value: number) =>
  Flag.Int(name).pipe(Flag.withDescription(`${description} (${value})`), Flag.withDefault(value))

const flags = {
  cluster: clusterFlag,
  nats: natsFlag,
  ...natsAccessFlags,
  keyFile: keyFileFlag,
  data: dataFlag,
  devicesMin: time("devices-min", "Devices that must report before safe mode ends", 1),
  extensionMs: time("safe-mode-extension-ms", "How long the threshold must hold", 30_000),
  staleAfterMs: time("stale-after-ms", "Silence after which a device gets no new chunk", 15_000),
  deadAfterMs: time("dead-after-ms", "Silence after which a device is dead", 90_000),
  repairDelayMs: time("repair-delay-ms", "How long after safe mode repair begins", 60_000),
  freeMiB: time("free-mib", "MiB that allocation leaves free on each device", 256),
  check: Flag.Boolean("check").pipe(
    Flag.withDescription("Check the configuration and exit"),
    Flag.withDefault(false)
  )
}

/** `holdfast metadata`. */
export const metadataCommand = Command.make("metadata", flags, (options) =>
  Effect.gen(function* () {
    const { cluster, deadAfterMs, devicesMin, extensionMs, repairDelayMs, staleAfterMs } = options
    if (staleAfterMs >= deadAfterMs) {
      return yield* failure("--stale-after-ms must be below --dead-after-ms")
    }
    const key = yield* readClusterKey(options.keyFile)
    if (options.check) return
    // The other commands need not wait for the service to load.
    const { metadataProcess } = yield* Effect.promise(() => import("./metadata-process.ts"))
    const freeBytesMin = options.freeMiB * 1024 * 1024
    const running = metadataProcess({
      cluster,
      mac: macWith(key),
      directory: options.data,
      map: { devicesMin, extensionMs, staleAfterMs, deadAfterMs, repairDelayMs, freeBytesMin }
    }).pipe(
      Layer.provide(natsMessagingLayer()),
      Layer.provide(natsConnections(options, "holdfast-metadata"))
    )
    yield* serveLayer("metadata", running)
  })
).pipe(Command.withDescription("Run the metadata service: it places, versions and repairs chunks"))
