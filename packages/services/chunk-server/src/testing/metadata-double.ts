/** A metadata service for tests: asks for reports, hands out commands, remembers everything. */
import { type Digest, digestAdd, emptyDigest } from "@holdfast/chunk-map"
import {
  decodeCopies,
  MetadataChunkServerOperations,
  type ReportedCopy,
  serveOperation,
  ServiceError
} from "@holdfast/wire"
import { Effect, Option } from "effect"

type HeartbeatRequest = (typeof MetadataChunkServerOperations.heartbeat.request)["Type"]
type ChunkCommand = MetadataChunkServerOperations.ChunkCommand

/** What a test sees and changes of the service. */
export interface MetadataDouble {
  readonly heartbeats: Array<HeartbeatRequest>
  /** Complete reports by device. */
  readonly reports: Map<string, ReadonlyArray<ReportedCopy>>
  /** Parts that came, complete or not. */
  readonly parts: () => number
  /** Given out with each heartbeat of the host, until the test takes them away. */
  readonly commands: Array<ChunkCommand>
  /** Devices refused, and why. */
  readonly refused: Map<string, string>
  /** Refuses every request with this code while set. */
  failure: string | undefined
  /** Whether replies confirm what they got. */
  isConfirming: boolean
  /** Whether replies tell the time. */
  tellsTime: boolean
  /** Asks the device for a full report again. */
  readonly forget: (deviceId: string) => void
  /** Forgets everything, the leases it gave included, as a service that is started again does. */
  readonly restart: () => void
}

const failing = (double: MetadataDouble) =>
  double.failure === undefined
    ? Effect.void
    : Effect.fail(new ServiceError({ code: double.failure, message: "as the test wants it" }))

const answerHeartbeat = (
  double: MetadataDouble,
  known: ReadonlyMap<string, number>,
  leases: () => number
) =>
  Effect.fnUntraced(function* (request: HeartbeatRequest) {
    yield* failing(double)
    double.heartbeats.push(request)
    const wanted = request.devices.filter(({ deviceId, epoch }) => known.get(deviceId) !== epoch)
    return {
      response: {
        confirmed: double.isConfirming ? request.sequence : 0,
        commands: double.commands.filter((command) =>
          request.devices.some(({ deviceId }) => deviceId === command.deviceId)
        ),
        reportsWanted: wanted.map(({ deviceId }) => ({
          deviceId,
          lease: `lease ${leases()} of ${deviceId}`,
          leaseMs: 10_000
        })),
        refused: request.devices.flatMap(({ deviceId }) => {
          const reason = double.refused.get(deviceId)
          return reason === undefined ? [] : [{ deviceId, reason }]
        }),
        intervalMs: 20,
        ...(double.tellsTime ? { seconds: Math.floor(Date.now() / 1_000) } : {})
      }
    }
  })

/** Starts the service on the messaging of the caller's context. */
export const startMetadata = Effect.fnUntraced(function* (clusterId: string) {
  const known = new Map<string, number>()
  const arriving = new Map<string, Array<ReportedCopy>>()
  let parts = 0
  let leases = 0
  const double: MetadataDouble = {
    heartbeats: [],
    reports: new Map(),
    parts: () => parts,
    commands: [],
    refused: new Map(),
    failure: undefined,
    isConfirming: true,
    tellsTime: true,
    forget: (deviceId) => {
      leases += 1
      known.delete(deviceId)
      double.reports.delete(deviceId)
    },
    restart: () => {
      leases = 0
      known.clear()
      double.reports.clear()
    }
  }
  const bounds = { cluster: clusterId, concurrency: 4, backlog: 100 }
  yield* serveOperation(MetadataChunkServerOperations.heartbeat, {
    ...bounds,
    handler: answerHeartbeat(double, known, () => leases)
  })
  yield* serveOperation(MetadataChunkServerOperations.online, {
    ...bounds,
    handler: Effect.fnUntraced(function* (request, context) {
      yield* failing(double)
      parts += 1
      const copies = Option.getOrThrow(decodeCopies(context.attachment))
      if (request.part === 0) arriving.set(request.reportId, [])
      const all = arriving.get(request.reportId)
      if (all === undefined) {
        return yield* new ServiceError({ code: "out-of-order", message: "part 0 is next" })
      }
      all.push(...copies)
      if (request.last) {
        double.reports.set(request.deviceId, all)
        known.set(request.deviceId, request.epoch)
      }
      return { response: { accepted: copies.length } }
    })
  })
  return double
})

/** The digest that a set of copies has. */
export const digestOf = (
  copies: ReadonlyArray<{
    readonly fileId: number
    readonly chunkId: number
    readonly version: number
  }>
): Digest =>
  copies.reduce(
    (sum, { fileId, chunkId, version }) => digestAdd(sum, fileId, chunkId, version),
    emptyDigest
  )
