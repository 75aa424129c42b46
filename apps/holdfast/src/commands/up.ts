/** `holdfast up`: a whole cluster in this process, until it is stopped. */
import {
  clusterFlag,
  jsonFlag,
  natsAccessFlags,
  natsConnections,
  natsFlag,
  numberFlag
} from "@holdfast/process"
import { resolve } from "node:path"
import { Effect, Option } from "effect"
import { Command } from "effect/cli"
import { embeddedDataFlag } from "../connection/connect.ts"
import { toJson, writeLine } from "../output/standard-output.ts"
import { renderPairs } from "../output/table.ts"

const count = (name: string, description: string, value: number, most: number) =>
  numberFlag({ name, description, value, least: 1, most })

const flags = {
  cluster: clusterFlag,
  nats: natsFlag,
  ...natsAccessFlags,
  data: embeddedDataFlag,
  json: jsonFlag,
  hosts: count("hosts", "Chunk servers, each with one device", 4, 16),
  peers: count("peers", "Peers", 3, 9),
  workers: count("workers", "Workers", 2, 16),
  port: numberFlag({
    name: "port",
    description: "The loopback port for other terminals, 0 for any",
    value: 0,
    least: 0,
    most: 65_535
  })
}

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

/** `holdfast up`. */
export const upCommand = Command.make("up", flags, (options) =>
  Effect.scoped(
    Effect.gen(function* () {
      const directory = resolve(options.data)
      // The other commands need not wait for the services to load.
      const { startEmbedded } = yield* Effect.promise(() => import("../embedded/cluster.ts"))
      const { url } = yield* startEmbedded({
        cluster: options.cluster,
        directory,
        hosts: options.hosts,
        peers: options.peers,
        workers: options.workers,
        port: options.port,
        map: embeddedMap,
        workerSettings: { discoveryIntervalMs: second },
        nats: Option.map(options.nats, () => natsConnections(options, "holdfast-up"))
      })
      const { cluster, hosts, peers, workers } = options
      yield* writeLine(
        options.json
          ? toJson({ cluster, directory, url, hosts, peers, workers })
          : welcome({ directory, url, suffix: suffixOf(options) })
      )
      return yield* Effect.never
    })
  )
).pipe(Command.withDescription("Run a whole cluster in this process until it is stopped"))

/** What a command in a second terminal must say to find this cluster. */
const suffixOf = (options: { readonly nats: Option.Option<string>; readonly data: string }) =>
  Option.match(options.nats, {
    onSome: (servers) => ` --nats ${servers}`,
    onNone: () => (options.data === ".holdfast" ? "" : ` --data ${resolve(options.data)}`)
  })

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
