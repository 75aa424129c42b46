/**
 * What a peer says about itself: status, its partitions, one partition.
 */
import { PartitionKey } from "@holdfast/keyspace"
import { formatParticipant } from "@holdfast/power-state"
import { PartitionStore } from "@holdfast/storage"
import { PeerOperations, ServiceError } from "@holdfast/wire"
import { Effect, Option, Result } from "effect"
import type { AntiEntropyContext } from "./anti-entropy.ts"
import { isCluster } from "./cluster-partition.ts"
import type { Resident } from "./partition-table.ts"
import { noSuchApplication, storageRefusal } from "./refusals.ts"

/** The partitions in memory, without the cluster itself. */
const residents = ({ engine }: AntiEntropyContext): ReadonlyArray<Resident> =>
  [...engine.table.values()].filter(({ address }) => !isCluster(address.application))

/** How many partitions in memory each peer is behind in. */
const divergence = (context: AntiEntropyContext): ReadonlyMap<string, number> => {
  const counts = new Map<string, number>()
  for (const { current } of residents(context)) {
    for (const { participant } of current?.divergent() ?? []) {
      counts.set(participant.peer, (counts.get(participant.peer) ?? 0) + 1)
    }
  }
  return counts
}

const pendingEvents = (context: AntiEntropyContext): number => {
  let pending = 0
  for (const { current } of residents(context)) pending += current?.pending() ?? 0
  return pending
}

/** Answers `status`; what concerns pending events is about the partitions in memory. */
export const peerStatus = Effect.fnUntraced(function* (context: AntiEntropyContext) {
  const { inventory, membership, view } = context
  const store = yield* PartitionStore
  const applications = yield* Effect.mapError(store.size, storageRefusal)
  const behind = divergence(context)
  const statusOf = (peer: PeerOperations.Hop["peer"]) => {
    const silence = view.silence(peer)
    const status = {
      peer,
      live: view.isLive(peer),
      divergentPartitions: behind.get(peer) ?? 0
    }
    return silence === null ? status : { ...status, lastHeardMs: Math.max(0, silence) }
  }
  return {
    peer: view.self.peer,
    incarnation: view.self.incarnation,
    boot: view.self.boot,
    epoch: membership.epoch,
    peers: view.others().map(statusOf),
    applications: applications
      .filter(({ application }) => !isCluster(application))
      .map(({ application, bytes, partitions }) => ({ name: application, partitions, bytes })),
    workers: residents(context).length,
    pendingEvents: pendingEvents(context),
    quarantined: inventory.damaged.size
  }
})

/** Answers `partitions`: those in the store, in key order. */
export const listPartitions = Effect.fnUntraced(function* (
  context: AntiEntropyContext,
  request: { readonly application: string; readonly after?: string; readonly limit: number }
) {
  const { application, limit } = request
  if (!context.applications.has(application)) return yield* noSuchApplication(application)
  const store = yield* PartitionStore
  const page = yield* store
    .scan({
      application,
      after: Option.fromUndefinedOr(request.after),
      ranges: [["0".repeat(64), "f".repeat(64)]],
      limit: limit + 1
    })
    .pipe(Effect.mapError(storageRefusal))
  const partitions = page
    .slice(0, limit)
    .map((stored) =>
      stored._tag === "Intact"
        ? { key: stored.key, bytes: stored.state.length }
        : { key: stored.key, bytes: 0, damaged: stored.reason }
    )
  return { partitions, more: page.length > limit }
})

const showTag = (tag: Uint8Array): string =>
  Array.from(tag, (byte) =>
    byte >= 0x20 && byte < 0x7f && byte !== 0x5c
      ? String.fromCharCode(byte)
      : `\\x${byte.toString(16).padStart(2, "0")}`
  ).join("")

/** Answers `partition`: one, as this peer holds it. Tags are shown as text with escapes. */
export const showPartition = Effect.fnUntraced(function* (
  context: AntiEntropyContext,
  request: { readonly application: string; readonly key: string }
) {
  const { application } = request
  if (!context.applications.has(application)) return yield* noSuchApplication(application)
  const address = { application, key: PartitionKey.make(request.key) }
  const replica = yield* context.engine.submit(address, (local) =>
    Result.succeed({ replica: local, value: local })
  )
  if (replica === null) {
    const message = `this peer holds no partition ${application}/${address.key}`
    return yield* new ServiceError({ code: "not-found", message })
  }
  return {
    key: address.key,
    projected: replica.projected(),
    infimum: replica.infimum(),
    participants: replica.participants().map(formatParticipant),
    pending: replica.pending(),
    divergent: replica.divergent().map(({ participant }) => formatParticipant(participant)),
    tags: replica.tags().map(showTag),
    birthEpoch: replica.birthEpoch(),
    isProvisional: replica.isProvisional(),
    history: replica.history().slice(0, PeerOperations.historyEntriesMax)
  }
})
