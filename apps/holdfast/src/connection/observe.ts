/** Asks services for their own figures, page after page, each call within a deadline. */
import { type Messaging } from "@holdfast/messaging"
import {
  type CallError,
  makeCaller,
  makeRequestId,
  MetadataOperations,
  type Operation,
  PeerOperations,
  WorkerOperations
} from "@holdfast/wire"
import { Effect } from "effect"

const deadline = "5 seconds"
const page = 500

/** Calls one operation with a fresh request id. */
const ask = <Request, Response>(operation: Operation<Request, Response>) => {
  const call = makeCaller(operation)
  return Effect.fnUntraced(function* (options: {
    readonly cluster: string
    readonly instance?: string
    readonly request: Request
  }): Effect.fn.Return<Response, CallError, Messaging> {
    const requestId = yield* makeRequestId
    const { response } = yield* call({ ...options, deadline, requestId })
    return response
  })
}

const askStatus = ask(MetadataOperations.status)
const askDevices = ask(MetadataOperations.devices)
const askPeer = ask(PeerOperations.peerStatus)
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
