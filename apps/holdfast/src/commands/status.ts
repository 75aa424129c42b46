/** `holdfast status`: what the services say of themselves, on one page. */
import { metadataStatus, peersOf, workersOf } from "../connection/observe.ts"
import { jsonFlag } from "@holdfast/process"
import { Effect } from "effect"
import { Command } from "effect/cli"
import { connectedLayer, connectionFlags } from "../connection/connect.ts"
import { toJson, writeLine } from "../output/standard-output.ts"
import { renderPairs, renderTable } from "../output/table.ts"

const flags = { ...connectionFlags, json: jsonFlag }

/** `holdfast status`. */
export const statusCommand = Command.make("status", flags, (options) =>
  Effect.gen(function* () {
    const metadata = yield* metadataStatus(options.cluster)
    const peers = yield* peersOf(options.cluster)
    const workers = yield* workersOf(options.cluster)
    if (options.json) return yield* writeLine(toJson({ metadata, peers, workers }))
    const { chunks, devices, pending, safeMode } = metadata
    yield* writeLine(
      renderPairs([
        ["cluster", metadata.clusterId],
        ["safe mode", `${safeMode.phase}: ${safeMode.tip}`],
        ["chunks", chunks.known],
        ["  at goal", chunks.atGoal],
        ["  below goal", chunks.belowGoal],
        ["  surplus", chunks.surplus],
        ["  unknown", chunks.unknown],
        ["  missing", chunks.missing],
        ["  corrupt", chunks.corrupt],
        ["devices", `${devices.live} live, ${devices.stale} stale, ${devices.dead} dead`],
        ["pending", `${pending.copies} copies, ${pending.deletions} deletions`],
        ["peers", `${peers.filter(({ live }) => live).length} of ${peers.length} live`]
      ])
    )
    const rows = workers.flatMap(({ shards, worker }) =>
      shards.map((one) => [
        one.shard,
        worker,
        one.reason === undefined ? one.state : `${one.state}: ${one.reason}`,
        one.checkpoint?.toString() ?? "-",
        one.newest?.toString() ?? "-",
        one.inFlight.records
      ])
    )
    if (rows.length === 0) return
    const headings = ["shard", "worker", "state", "checkpoint", "newest", "in flight"]
    yield* writeLine(`\n${renderTable(headings, rows)}`)
  }).pipe(Effect.provide(connectedLayer(options)))
).pipe(Command.withDescription("How the cluster is"))
