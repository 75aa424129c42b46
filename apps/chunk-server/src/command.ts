/** `chunk-server`: one chunk server, its devices, on NATS for control and HTTP for bytes. */
import { natsMessagingLayer } from "@holdfast/adapter-nats"
import {
  booleanSetting,
  checkDataPath,
  clusterSettings,
  dataSetting,
  dataTlsServerSettings,
  keyFileSetting,
  natsConnections,
  natsOptionsOf,
  natsSettings,
  numberSetting,
  openDataPath,
  openKeyRing,
  optionalText,
  PlainText,
  readClusterKeys,
  requiredList,
  requiredText,
  serviceCommand,
  type SettingValues,
  textSetting
} from "@holdfast/process"
import { HostId, RackName } from "@holdfast/wire"
import { Effect, Layer } from "effect"
import { observeChunkServer } from "./observations.ts"

const settings = {
  ...clusterSettings,
  ...natsSettings,
  keyFile: keyFileSetting,
  data: dataSetting,
  id: requiredText(HostId, {
    description: "This host's name, for its whole life",
    variables: ["HOLDFAST_HOST"]
  }),
  device: requiredList(PlainText, {
    description: "A directory on a disk, repeatable; its last name is the device's",
    variables: ["HOLDFAST_DEVICES"]
  }),
  format: booleanSetting({
    description: "Make devices of the directories that are none yet"
  }),
  listenHost: textSetting(PlainText, {
    description: "The address to listen on",
    variables: ["HOLDFAST_LISTEN_HOST"],
    value: "127.0.0.1"
  }),
  listenPort: numberSetting({
    description: "The port to listen on, 0 for any",
    variables: ["HOLDFAST_LISTEN_PORT"],
    value: 0,
    least: 0,
    most: 65_535
  }),
  url: optionalText(PlainText, {
    description: "The base URL that others reach this server by",
    variables: ["HOLDFAST_URL"]
  }),
  ...dataTlsServerSettings,
  rack: optionalText(RackName, {
    description: "Where this host stands, for copies on distinct racks",
    variables: ["HOLDFAST_RACK"]
  }),
  reservedMib: numberSetting({
    description: "MiB of each disk that are never written",
    value: 256,
    least: 0,
    most: 1_000_000_000
  })
}

const bytesPerMib = 1024 * 1024

const processOptionsOf = (values: SettingValues<typeof settings>) => ({
  cluster: values.cluster,
  host: values.id,
  stateDirectory: values.data,
  devices: values.device,
  listen: { host: values.listenHost, port: values.listenPort },
  ...(values.url === undefined ? {} : { advertisedUrl: values.url }),
  ...(values.rack === undefined ? {} : { rack: values.rack }),
  reservedBytes: values.reservedMib * bytesPerMib
})

/** `holdfast chunk-server`. */
export const chunkServerCommand = serviceCommand({
  name: "chunk-server",
  description: "Run a chunk server: it holds chunk copies on its devices",
  settings,
  prepare: (values) =>
    Effect.gen(function* () {
      const { cluster, device, format, id } = values
      const connection = `holdfast-chunk-server-${id}`
      yield* readClusterKeys(values.keyFile)
      yield* natsOptionsOf(values, connection)
      yield* checkDataPath(values)
      // The other commands need not wait for the service to load.
      const { formatMissingDevices, runChunkServer } = yield* Effect.promise(
        () => import("./chunk-server-process.ts")
      )
      const formatting = format
        ? formatMissingDevices({ cluster, directories: device })
        : Effect.void
      const running = Effect.gen(function* () {
        yield* formatting
        const ring = yield* openKeyRing(values.keyFile)
        const path = yield* openDataPath(values)
        yield* runChunkServer({ ...processOptionsOf(values), ...path, ring })
      })
      const layer = Layer.effectDiscard(running).pipe(
        Layer.provideMerge(natsMessagingLayer()),
        Layer.provide(natsConnections(values, connection))
      )
      const start = Effect.map(Layer.build(layer), (context) => ({
        observations: observeChunkServer({ cluster, host: id, context })
      }))
      return { label: `chunk server ${id}`, start }
    })
})
