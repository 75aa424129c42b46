/** `holdfast status`: what the services say of themselves, on one page. */
import { jsonFlag } from "@holdfast/process"
import type { CallError } from "@holdfast/wire"
import { Effect, Result } from "effect"
import { Command } from "effect/cli"
import { connectedLayer, connectionFlags } from "../connection/connect.ts"
import { metadataStatus, peersOf, workersOf } from "../connection/observe.ts"
import { toJson, writeLine } from "../output/standard-output.ts"
import { formatAge, renderPairs } from "../output/table.ts"
import { renderShards, shardsOf } from "./shards.ts"

const flags = { ...connectionFlags, json: jsonFlag }

type MetadataStatus = Effect.Success<ReturnType<typeof metadataStatus>>

/**
 * What each kind of service says; those that answer are shown whether or not the others do. Fails
 * only when nobody answers.
 */
const overview = Effect.fnUntraced(function* (cluster: string) {
  const answers = yield* Effect.all(
    {
      metadata: Effect.result(metadataStatus(cluster)),
      peers: Effect.result(peersOf(cluster)),
      workers: Effect.result(workersOf(cluster))
    },
    { concurrency: "unbounded" }
  )
  const { metadata, peers, workers } = answers
  if (Result.isFailure(metadata) && Result.isFailure(peers) && Result.isFailure(workers)) {
    return yield* metadata.failure
  }
  const byService: Record<string, Result.Result<unknown, CallError>> = answers
  const silent = Object.entries(byService).flatMap(([service, answer]) =>
    Result.isFailure(answer) ? [{ service, reason: answer.failure.message }] : []
  )
  return {
    metadata: Result.getOrElse(metadata, () => null),
    peers: Result.getOrElse(peers, () => []),
    workers: Result.getOrElse(workers, () => []),
    silent
  }
})

const renderMetadata = ({ chunks, clusterId, devices, hosts, pending, safeMode }: MetadataStatus) =>
  [
    ["cluster", clusterId],
    ["safe mode", `${safeMode.phase}: ${safeMode.tip}`],
    ["chunks", chunks.known],
    ["  at goal", chunks.atGoal],
    ["    badly spread", chunks.badlySpread ?? 0],
    ["  below goal", chunks.belowGoal],
    ["  surplus", chunks.surplus],
    ["  unknown", chunks.unknown],
    ["  missing", chunks.missing],
    ["  corrupt", chunks.corrupt],
    ["devices", `${devices.live} live, ${devices.stale} stale, ${devices.dead} dead`],
    ["hosts", `${hosts.live} live, ${hosts.dead} dead`],
    ["pending", `${pending.copies} copies, ${pending.deletions} deletions`],
    ["  oldest deletion", formatAge(pending.oldestDeletionMs ?? 0)]
  ] as const

/** `holdfast status`. */
export const statusCommand = Command.make("status", flags, (options) =>
  Effect.gen(function* () {
    const { metadata, peers, silent, workers } = yield* overview(options.cluster)
    if (options.json) return yield* writeLine(toJson({ metadata, peers, workers, silent }))
    const live = peers.filter((one) => one.live).length
    const facts = renderPairs([
      ...(metadata === null ? [] : renderMetadata(metadata)),
      ["peers", `${live} of ${peers.length} live`],
      ...silent.map(({ reason, service }) => [`${service} silent`, reason] as const)
    ])
    const shards = shardsOf(workers)
    yield* writeLine(shards.length === 0 ? facts : `${facts}\n\n${renderShards(shards)}`)
  }).pipe(Effect.provide(connectedLayer(options)))
).pipe(Command.withDescription("How the cluster is"))
