/** Asks services for their own figures, page after page, each call within a deadline. */
import { type Messaging, MessagingError } from "@holdfast/messaging"
import { type CommandFailure, failure } from "@holdfast/process"
import {
  type CallError,
  type PeerId,
  MetadataOperations,
  PeerMembershipOperations,
  PeerOperations,
  WorkerOperations
} from "@holdfast/wire"
import { Effect, Option, Result } from "effect"
import { ask } from "./ask.ts"

const page = 500

const askStatus = ask(MetadataOperations.status)
const askDevices = ask(MetadataOperations.devices)
const askPeer = ask(PeerOperations.peerStatus)
const askCluster = ask(PeerMembershipOperations.cluster)
const askEject = ask(PeerMembershipOperations.eject)
const askLeave = ask(PeerMembershipOperations.leave)
const askPartitions = ask(PeerOperations.partitions)
const askPartition = ask(PeerOperations.partition)
const askWorker = ask(WorkerOperations.workerStatus)

/** The metadata service's counts. */
export const metadataStatus = (cluster: string) => askStatus({ cluster, request: {} })

/** One device as the metadata service sees it. */
export type DeviceStatusView = MetadataOperations.DeviceStatus

/** All devices in order of their ids. */
export const devicesOf = Effect.fnUntraced(function* (
  cluster: string
): Effect.fn.Return<ReadonlyArray<DeviceStatusView>, CallError, Messaging> {
  const found: Array<DeviceStatusView> = []
  for (;;) {
    const last = found.at(-1)?.deviceId
    const request = last === undefined ? { limit: page } : { limit: page, after: last }
    const { devices, more } = yield* askDevices({ cluster, request })
    found.push(...devices)
    if (!more || devices.length === 0) return found
  }
})

/** All peers as any one of them sees the others; it itself has just been heard. */
export const peersOf = (cluster: string) =>
  Effect.map(askPeer({ cluster, request: {} }), ({ peer, peers }) =>
    [
      { peer, live: true, lastHeardMs: 0, divergentPartitions: 0 },
      ...peers.filter((one) => one.peer !== peer)
    ].sort((left, right) => (left.peer < right.peer ? -1 : 1))
  )

/** What one peer says of itself and of the others. */
export type PeerStatusView = typeof PeerOperations.peerStatus.response.Type

/** A call to one peer; that nobody listens under its name is said in so many words. */
const ofPeer = <A, R>(
  peer: string,
  call: Effect.Effect<A, CallError, R>
): Effect.Effect<A, CallError | CommandFailure, R> =>
  Effect.catchIf(
    call,
    (error) => error instanceof MessagingError && error.code === "no-responders",
    () =>
      Effect.fail(failure(`no peer "${peer}" answers; \`holdfast peers\` lists those there are`))
  )

/** The status of one peer. */
export const peerStatusOf = (options: { readonly cluster: string; readonly peer: string }) =>
  ofPeer(options.peer, askPeer({ cluster: options.cluster, instance: options.peer, request: {} }))

/** The cluster of peers as any one of them knows that all agree on it. */
export const peerClusterOf = (cluster: string) => askCluster({ cluster, request: {} })

/** What the peers agree on. */
export type PeerClusterView = typeof PeerMembershipOperations.cluster.response.Type

/** Lets a peer give away what it owns and go. */
export const leavePeer = (options: { readonly cluster: string; readonly peer: PeerId }) =>
  askLeave({ cluster: options.cluster, request: { peer: options.peer } })

/** Puts a peer out that will not come back. */
export const ejectPeer = (options: {
  readonly cluster: string
  readonly peer: PeerId
  /** Also where no majority is left to decide it. */
  readonly force: boolean
}) => askEject({ cluster: options.cluster, request: { peer: options.peer, force: options.force } })

/** The partitions of an application that a peer holds. */
export type PartitionsView = typeof PeerOperations.partitions.response.Type

/** One page of the partitions that a peer holds, in key order; of any peer, if none is named. */
export const partitionsOf = Effect.fnUntraced(function* (options: {
  readonly cluster: string
  readonly application: string
  readonly peer: string | undefined
  readonly after: string | undefined
  readonly limit: number
}): Effect.fn.Return<
  PartitionsView & { readonly peer: string },
  CallError | CommandFailure,
  Messaging
> {
  const { after, application, cluster, limit } = options
  const peer = options.peer ?? (yield* askPeer({ cluster, request: {} })).peer
  const request = { application, limit, ...(after === undefined ? {} : { after }) }
  const found = yield* ofPeer(peer, askPartitions({ cluster, instance: peer, request }))
  return { peer, ...found }
})

/** One partition as a peer holds it. */
export type PartitionView = typeof PeerOperations.partition.response.Type & {
  readonly peer: string
}

/** One partition as the named peer holds it, or the first live one that does; none: no such. */
export const partitionOf = Effect.fnUntraced(function* (options: {
  readonly cluster: string
  readonly application: string
  readonly peer: string | undefined
  readonly key: string
}): Effect.fn.Return<Option.Option<PartitionView>, CallError | CommandFailure, Messaging> {
  const { application, cluster, key } = options
  const peers =
    options.peer === undefined
      ? (yield* peersOf(cluster)).filter(({ live }) => live).map(({ peer }) => String(peer))
      : [options.peer]
  let silent: CallError | CommandFailure | undefined
  for (const peer of peers) {
    const request = { application, key }
    const found = yield* Effect.result(
      ofPeer(peer, askPartition({ cluster, instance: peer, request }))
    )
    if (Result.isSuccess(found)) return Option.some({ ...found.success, peer })
    const { failure: error } = found
    // Another peer may hold it; only if none does, one that did not answer matters.
    if (!("code" in error) || error.code !== "not-found") silent ??= error
  }
  if (silent !== undefined) return yield* Effect.fail(silent)
  return Option.none()
})

/** What one worker says of itself. */
export type WorkerStatusView = typeof WorkerOperations.workerStatus.response.Type

/** Every worker that holds a lease now, and whichever answers for all. */
export const workersOf = Effect.fnUntraced(function* (
  cluster: string
): Effect.fn.Return<ReadonlyArray<WorkerStatusView>, CallError, Messaging> {
  const first = yield* askWorker({ cluster, request: {} })
  const owners = new Set(first.leases.flatMap(({ owner }) => (owner === undefined ? [] : [owner])))
  owners.delete(first.worker)
  const others = yield* Effect.forEach(
    owners,
    // An owner that does not answer is one whose lease lapses soon: the others are shown.
    (instance) => Effect.option(askWorker({ cluster, instance, request: {} })),
    { concurrency: 8 }
  )
  return [first, ...others.flatMap((one) => (one._tag === "Some" ? [one.value] : []))]
})
