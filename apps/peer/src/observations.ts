/** What a peer that runs says of itself; its own status is asked at each scrape. */
import type { Messaging } from "@holdfast/messaging"
import { missingAnswers, type Observations, probe } from "@holdfast/process"
import { type ClusterId, type PeerId, PeerOperations } from "@holdfast/wire"
import { type Context, Effect, Metric, Option } from "effect"

const askSelf = probe(PeerOperations.peerStatus)

const gauge = (name: string, description: string) =>
  Metric.gauge(`holdfast_peer_${name}`, { description })

const partitions = gauge("partitions", "partitions that this peer holds, by application")
const partitionBytes = gauge("partition_bytes", "stored bytes of partitions, by application")
const others = gauge("others", "other peers as this one sees them, by state")
const divergent = gauge("divergent_partitions", "partitions that differ from another peer's")
const pending = gauge("pending_events", "events that wait for their write concern")

type Status = typeof PeerOperations.peerStatus.response.Type

const show = (metric: typeof partitions, label: string, name: string, value: number) =>
  Metric.update(Metric.withAttributes(metric, { [label]: name }), value)

const showStatus = (status: Status): Effect.Effect<void> =>
  Effect.gen(function* () {
    for (const { bytes, name, partitions: count } of status.applications) {
      yield* show(partitions, "application", name, count)
      yield* show(partitionBytes, "application", name, bytes)
    }
    const live = status.peers.filter((peer) => peer.live).length
    yield* show(others, "state", "live", live)
    yield* show(others, "state", "silent", status.peers.length - live)
    const counts = status.peers.map((peer) => peer.divergentPartitions)
    yield* Metric.update(divergent, Math.max(0, ...counts))
    yield* Metric.update(pending, status.pendingEvents)
  })

/** It is ready when it answers for its partitions. */
export const observePeer = (options: {
  readonly cluster: ClusterId
  readonly peer: PeerId
  readonly context: Context.Context<Messaging>
}): Observations => {
  const { cluster, context, peer } = options
  const self = askSelf({ cluster, instance: peer, request: {} })
  return {
    missing: missingAnswers({ [`peer ${peer} does not answer`]: self }).pipe(
      Effect.provide(context)
    ),
    collect: self.pipe(
      Effect.flatMap(Option.match({ onNone: () => Effect.void, onSome: showStatus })),
      Effect.provide(context)
    )
  }
}
