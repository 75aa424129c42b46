/** `holdfast demo`: the main job on real data, start to end; what `npm start` runs. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { layerChunkTransport } from "@holdfast/adapter-http"
import { clientLayer } from "@holdfast/client"
import { failure, jsonFlag } from "@holdfast/process"
import { ClusterId } from "@holdfast/wire"
import { Effect, Layer, Option } from "effect"
import { Command } from "effect/cli"
import { demonstrate, type DemonstrationReport, faultOf } from "../demo/demonstration.ts"
import { sayLine } from "../output/progress.ts"
import { toJson, writeLine } from "../output/standard-output.ts"
import { formatBytes, renderPairs } from "../output/table.ts"
import { embeddedMap } from "./up.ts"

const name = ClusterId.make("demo")

/** A directory that is gone when the demonstration is over. */
const temporaryDirectory = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "holdfast-demo-"))),
  (directory) => Effect.sync(() => rmSync(directory, { recursive: true, force: true }))
)

const render = (report: DemonstrationReport): string =>
  renderPairs([
    ["records archived", report.records],
    ["segments", report.segments],
    ["raw", formatBytes(report.rawBytes)],
    ["stored, a copy", formatBytes(report.storedBytes)],
    ["archived a second", report.ingestPerSecond],
    ["read back a second", report.readPerSecond],
    ["chunks short of a copy after the loss", report.belowGoalAfterKill],
    ["chunks short of a copy after repair", report.belowGoalAfterRepair],
    ["records read back", report.recordsRead],
    ["digests", report.digestIn === report.digestOut ? "equal" : "DIFFERENT"],
    ...report.searches.map(({ matches, tag }) => [`search ${tag}`, matches] as const)
  ])

/** `holdfast demo`. */
export const demoCommand = Command.make("demo", { json: jsonFlag }, ({ json }) =>
  Effect.scoped(
    Effect.gen(function* () {
      const directory = yield* temporaryDirectory
      yield* sayLine("starting a cluster: metadata, 4 chunk servers, 3 peers, 2 workers")
      // The other commands need not wait for the services to load.
      const { startEmbedded } = yield* Effect.promise(() => import("../embedded/cluster.ts"))
      const cluster = yield* startEmbedded({
        cluster: name,
        directory,
        hosts: 4,
        peers: 3,
        workers: 2,
        port: 0,
        map: { ...embeddedMap, repairDelayMs: 0, deadAfterMs: 6_000, staleAfterMs: 3_000 },
        workerSettings: { discoveryIntervalMs: 250, checkpointIntervalMs: 500 },
        nats: Option.none()
      })
      const client = clientLayer({ cluster: name }).pipe(
        Layer.provideMerge(Layer.mergeAll(cluster.messaging, layerChunkTransport))
      )
      const report = yield* demonstrate({ cluster, name }).pipe(Effect.provide(client))
      yield* writeLine(json ? toJson(report) : render(report))
      const fault = faultOf(report)
      if (fault !== undefined) return yield* failure(`the demonstration failed: ${fault}`)
    })
  )
).pipe(Command.withDescription("Archive real data, lose a server and a peer, repair, read back"))
