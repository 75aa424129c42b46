/** `metadata`: the metadata service on NATS. */
import { natsMessagingLayer } from "@holdfast/adapter-nats"
import {
  clusterSettings,
  dataSetting,
  failure,
  keyFileSetting,
  natsConnections,
  natsOptionsOf,
  natsSettings,
  numberSetting,
  openKeyRing,
  readClusterKeys,
  serviceCommand,
  type SettingValues,
  timeSetting
} from "@holdfast/process"
import { Effect, Layer } from "effect"
import { observeMetadata } from "./observations.ts"

const settings = {
  ...clusterSettings,
  ...natsSettings,
  keyFile: keyFileSetting,
  data: dataSetting,
  devicesMin: numberSetting({
    description: "Devices that must report before safe mode ends",
    value: 1,
    least: 0,
    most: 10_000
  }),
  safeModeExtensionMs: timeSetting({
    description: "How long the threshold must hold",
    value: 30_000
  }),
  staleAfterMs: timeSetting({
    description: "Silence after which a device gets no new chunk",
    value: 15_000,
    least: 1
  }),
  deadAfterMs: timeSetting({
    description: "Silence after which a device is dead",
    value: 90_000,
    least: 1
  }),
  repairDelayMs: timeSetting({
    description: "How long after safe mode repair begins",
    value: 60_000
  }),
  freeMib: numberSetting({
    description: "MiB that allocation leaves free on each device",
    value: 256,
    least: 0,
    most: 1_000_000_000
  }),
  balanceMibPerSecond: numberSetting({
    description: "MiB a second that are moved from fuller devices to emptier ones, 0 for none",
    value: 32,
    least: 0,
    most: 1_000_000
  })
}

const bytesPerMib = 1024 * 1024

const mapOf = (values: SettingValues<typeof settings>) => ({
  devicesMin: values.devicesMin,
  extensionMs: values.safeModeExtensionMs,
  staleAfterMs: values.staleAfterMs,
  deadAfterMs: values.deadAfterMs,
  repairDelayMs: values.repairDelayMs,
  freeBytesMin: values.freeMib * bytesPerMib,
  balanceBytesPerSecond: values.balanceMibPerSecond * bytesPerMib
})

/** `holdfast metadata`. */
export const metadataCommand = serviceCommand({
  name: "metadata",
  description: "Run the metadata service: it places, versions and repairs chunks",
  settings,
  prepare: (values) =>
    Effect.gen(function* () {
      const { cluster, data } = values
      if (values.staleAfterMs >= values.deadAfterMs) {
        return yield* failure("--stale-after-ms must be below --dead-after-ms")
      }
      yield* readClusterKeys(values.keyFile)
      yield* natsOptionsOf(values, "holdfast-metadata")
      // The other commands need not wait for the service to load.
      const { metadataProcess } = yield* Effect.promise(() => import("./metadata-process.ts"))
      const running = Effect.map(openKeyRing(values.keyFile), (ring) =>
        metadataProcess({ cluster, ring, directory: data, map: mapOf(values) })
      )
      const layer = Layer.unwrap(running).pipe(
        Layer.provideMerge(natsMessagingLayer()),
        Layer.provide(natsConnections(values, "holdfast-metadata"))
      )
      const start = Effect.map(Layer.build(layer), (context) => ({
        observations: observeMetadata(cluster, context)
      }))
      return { label: "metadata", start }
    })
})
