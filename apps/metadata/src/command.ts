/** `metadata`: the metadata service on NATS. */
import { natsMessagingLayer } from "@holdfast/adapter-nats"
import {
  dataFlag,
  failure,
  keyFileFlag,
  natsConnections,
  numberFlag,
  openKeyRing,
  readClusterKeys,
  serveLayer,
  serviceFlags,
  timeFlag
} from "@holdfast/process"
import { Effect, Layer } from "effect"
import { Command } from "effect/cli"

const flags = {
  ...serviceFlags,
  keyFile: keyFileFlag,
  data: dataFlag,
  devicesMin: numberFlag({
    name: "devices-min",
    description: "Devices that must report before safe mode ends",
    value: 1,
    least: 0,
    most: 10_000
  }),
  extensionMs: timeFlag("safe-mode-extension-ms", "How long the threshold must hold", 30_000),
  staleAfterMs: timeFlag(
    "stale-after-ms",
    "Silence after which a device gets no new chunk",
    15_000,
    1
  ),
  deadAfterMs: timeFlag("dead-after-ms", "Silence after which a device is dead", 90_000, 1),
  repairDelayMs: timeFlag("repair-delay-ms", "How long after safe mode repair begins", 60_000),
  freeMiB: numberFlag({
    name: "free-mib",
    description: "MiB that allocation leaves free on each device",
    value: 256,
    least: 0,
    most: 1_000_000_000
  }),
  balanceMiB: numberFlag({
    name: "balance-mib-per-second",
    description: "MiB a second that are moved from fuller devices to emptier ones, 0 for none",
    value: 32,
    least: 0,
    most: 1_000_000
  })
}

/** `holdfast metadata`. */
export const metadataCommand = Command.make("metadata", flags, (options) =>
  Effect.gen(function* () {
    const { cluster, deadAfterMs, devicesMin, extensionMs, repairDelayMs, staleAfterMs } = options
    if (staleAfterMs >= deadAfterMs) {
      return yield* failure("--stale-after-ms must be below --dead-after-ms")
    }
    if (options.check) return void (yield* readClusterKeys(options.keyFile))
    const ring = yield* openKeyRing(options.keyFile)
    // The other commands need not wait for the service to load.
    const { metadataProcess } = yield* Effect.promise(() => import("./metadata-process.ts"))
    const freeBytesMin = options.freeMiB * 1024 * 1024
    const balanceBytesPerSecond = options.balanceMiB * 1024 * 1024
    const running = metadataProcess({
      cluster,
      ring,
      directory: options.data,
      map: {
        devicesMin,
        extensionMs,
        staleAfterMs,
        deadAfterMs,
        repairDelayMs,
        freeBytesMin,
        balanceBytesPerSecond
      }
    }).pipe(
      Layer.provide(natsMessagingLayer()),
      Layer.provide(natsConnections(options, "holdfast-metadata"))
    )
    yield* serveLayer("metadata", running)
  }).pipe(Effect.scoped)
).pipe(Command.withDescription("Run the metadata service: it places, versions and repairs chunks"))
