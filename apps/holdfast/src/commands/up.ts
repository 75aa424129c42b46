/** `holdfast up`: a whole cluster in this process, until it is stopped. */
import {
  booleanSetting,
  clusterSettings,
  natsConnections,
  natsOptionsOf,
  natsSettings,
  numberSetting,
  PlainText,
  serviceCommand,
  type SettingValues,
  textSetting,
  withoutUserInfo
} from "@holdfast/process"
import { resolve } from "node:path"
import { Effect, Option } from "effect"
import { toJson, writeLine } from "../output/standard-output.ts"
import { renderPairs } from "../output/table.ts"

const count = (description: string, value: number, most: number) =>
  numberSetting({ description, value, least: 1, most })

const settings = {
  ...clusterSettings,
  ...natsSettings,
  data: textSetting(PlainText, {
    description: "The directory for everything that is kept",
    variables: ["HOLDFAST_DATA"],
    value: ".holdfast"
  }),
  json: booleanSetting({ description: "Print JSON" }),
  hosts: count("Chunk servers, each with one device", 4, 16),
  peers: count("Peers", 3, 9),
  workers: count("Workers", 2, 16),
  port: numberSetting({
    description: "The loopback port for other terminals, 0 for any",
    value: 0,
    least: 0,
    most: 65_535
  })
}

type Values = SettingValues<typeof settings>

const second = 1_000

/** The numbers of a cluster whose parts live and die together. */
export const embeddedMap = {
  devicesMin: 1,
  extensionMs: 0,
  staleAfterMs: 5 * second,
  deadAfterMs: 15 * second,
  repairDelayMs: 5 * second,
  freeBytesMin: 64 * 1024 * 1024
}

const start = (values: Values) =>
  Effect.gen(function* () {
    const directory = resolve(values.data)
    const { cluster, hosts, json, nats, peers, port, workers } = values
    // The other commands need not wait for the services to load.
    const { startEmbedded } = yield* Effect.promise(() => import("../embedded/cluster.ts"))
    const { observeEmbedded } = yield* Effect.promise(() => import("../embedded/observations.ts"))
    const embedded = yield* startEmbedded({
      cluster,
      directory,
      hosts,
      peers,
      workers,
      port,
      map: embeddedMap,
      workerSettings: { discoveryIntervalMs: second },
      nats: nats === undefined ? Option.none() : Option.some(natsConnections(values, "holdfast-up"))
    })
    const { url } = embedded
    const suffix = suffixOf(values)
    const text = json
      ? toJson({ cluster, directory, url, hosts, peers, workers })
      : welcome({ directory, url, suffix })
    return {
      observations: yield* observeEmbedded(cluster, embedded),
      serve: Effect.andThen(writeLine(text), Effect.never)
    }
  })

/** `holdfast up`. */
export const upCommand = serviceCommand({
  name: "up",
  description: "Run a whole cluster in this process until it is stopped",
  settings,
  prepare: (values) =>
    Effect.gen(function* () {
      if (values.nats !== undefined) yield* natsOptionsOf(values, "holdfast-up")
      return { label: "the cluster", start: start(values) }
    })
})

/** What a command in a second terminal must say to find this cluster. */
const suffixOf = ({ context, data, nats }: Values): string => {
  if (context !== undefined) return ` --context ${context}`
  if (nats !== undefined) return ` --nats ${withoutUserInfo(nats)}`
  return data === ".holdfast" ? "" : ` --data ${resolve(data)}`
}

const welcome = (place: {
  readonly directory: string
  readonly url: string
  readonly suffix: string
}): string => {
  const data = place.suffix
  const facts = renderPairs([
    ["data", place.directory],
    ["address", `${place.url} (token in ${place.directory}/access.json)`]
  ])
  return [
    "holdfast is up",
    facts,
    "",
    "In a second terminal:",
    `  npx holdfast archive add orders --tag kind=json:kind${data}`,
    `  npx holdfast ingest orders.ndjson --stream orders${data}`,
    `  npx holdfast status${data}`,
    `  npx holdfast search orders --tag kind=new${data}`,
    `  npx holdfast read orders${data}`,
    "",
    "Ctrl-C stops it; everything stays in the data directory."
  ].join("\n")
}
