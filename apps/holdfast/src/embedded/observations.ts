/** What an embedded cluster says of itself: what its members would say, each under its name. */
import { observeChunkServer } from "@holdfast/chunk-server-app"
import { observeMetadata } from "@holdfast/metadata-app"
import { observePeer } from "@holdfast/peer-app"
import type { Observations } from "@holdfast/process"
import { type ClusterId, HostId, PeerId, WorkerId } from "@holdfast/wire"
import { observeWorker } from "@holdfast/worker-app"
import { Effect, Layer, type Scope } from "effect"
import type { EmbeddedCluster } from "./cluster.ts"
import { asMember } from "./member.ts"

/** Asks all members at each probe. */
export const observeEmbedded = Effect.fnUntraced(function* (
  cluster: ClusterId,
  { hosts, messaging, peers, workers }: EmbeddedCluster
): Effect.fn.Return<Observations, never, Scope.Scope> {
  const context = yield* Layer.build(messaging)
  const members: ReadonlyArray<readonly [string, Observations]> = [
    ["metadata", observeMetadata(cluster, context)],
    ...hosts.map(
      ({ name }) =>
        [name, observeChunkServer({ cluster, host: HostId.make(name), context })] as const
    ),
    ...peers.map(
      ({ name }) => [name, observePeer({ cluster, peer: PeerId.make(name), context })] as const
    ),
    ...workers.map(
      ({ name }) =>
        [name, observeWorker({ cluster, worker: WorkerId.make(name), context })] as const
    )
  ]
  return {
    missing: Effect.forEach(members, ([, { missing }]) => missing, {
      concurrency: "unbounded"
    }).pipe(Effect.map((lists) => [...new Set(lists.flat())])),
    collect: Effect.forEach(members, ([name, { collect }]) => asMember(name, collect), {
      concurrency: "unbounded",
      discard: true
    })
  }
})
