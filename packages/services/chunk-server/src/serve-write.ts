/**
 * A write as the first or a later server of its chain sees it.
 *
 *     client ──▶ pieces ─┬─▶ this device ─▶ receipt
 *                        └─▶ next server ─▶ its outcomes
 *
 * 1. Each target stands for itself: what one fails with touches no other.
 * 2. Nothing is asked of the client while neither this device nor a next server can take it.
 * 3. A target whose capability does not hold is `denied`, and gets no byte.
 */
import {
  type ChunkEndpointHandlers,
  type ChunkTarget,
  ChunkTransport,
  ChunkTransportError,
  type WriteOutcome
} from "@holdfast/storage"
import { Effect, type Scope, Stream } from "effect"
import type { DeviceSet } from "./device-set.ts"
import { type Relay, startRelay } from "./relay.ts"
import { checkPassedOn, checkRight, type ClusterKey, makeReceipt } from "./rights.ts"
import { beginCopy, type CopyInput } from "./store-copy.ts"
import { tellAdded, type Telling } from "./telling.ts"
import type { ServedDevice } from "./served-device.ts"

/** What the data path works with. */
export interface DataPath {
  readonly key: ClusterKey
  readonly devices: DeviceSet
  readonly telling: Telling
}

type WriteRequest = Parameters<ChunkEndpointHandlers["write"]>[0]

/** The open device of this id, or `unavailable`. */
export const findDevice = (path: DataPath, deviceId: string) =>
  Effect.suspend(() => {
    const device = path.devices.find(deviceId)
    return device === undefined
      ? Effect.fail(
          new ChunkTransportError({
            code: "unavailable",
            deviceId,
            message: "this server does not serve the device now"
          })
        )
      : Effect.succeed(device)
  })

const writeRight = (request: WriteRequest, target: ChunkTarget) => ({
  deviceId: target.deviceId,
  chunk: request.chunk,
  right: "write" as const,
  token: target.capability
})

const refused = (deviceId: string, error: ChunkTransportError): WriteOutcome => ({
  _tag: "Refused",
  deviceId,
  error
})

/** This server's own copy, under way or failed. */
type OwnCopy =
  | { readonly _tag: "Open"; readonly device: ServedDevice; readonly input: CopyInput }
  | { readonly _tag: "Failed"; readonly error: ChunkTransportError }

const beginOwn = (
  path: DataPath,
  request: WriteRequest,
  target: ChunkTarget
): Effect.Effect<OwnCopy, never, Scope.Scope> =>
  Effect.gen(function* () {
    yield* checkRight(path.key, writeRight(request, target))
    const device = yield* findDevice(path, target.deviceId)
    const input = yield* beginCopy(device, request.chunk, request.length)
    return { _tag: "Open", device, input } as const
  }).pipe(Effect.catch((error) => Effect.succeed({ _tag: "Failed", error } as const)))

/** Sends the pieces both ways until nobody wants any more; answers how the own copy stands. */
const pump = (request: WriteRequest, begun: OwnCopy, relay: Relay) => {
  let own = begun
  const store = (piece: Uint8Array) =>
    own._tag === "Failed"
      ? Effect.void
      : own.input.write(piece).pipe(
          Effect.catch((error) =>
            Effect.sync(() => {
              own = { _tag: "Failed", error }
            })
          )
        )
  const isWanted = () => own._tag === "Open" || relay.isOpen()
  return request.data.pipe(
    Stream.runForEachWhile((piece) =>
      Effect.andThen(relay.feed(piece), store(piece)).pipe(Effect.map(isWanted))
    ),
    Effect.catch((error) =>
      Effect.sync(() => {
        own = { _tag: "Failed", error }
      })
    ),
    Effect.when(Effect.sync(isWanted)),
    Effect.andThen(Effect.sync(() => own))
  )
}

const finishOwn = (path: DataPath, deviceId: string, own: OwnCopy): Effect.Effect<WriteOutcome> => {
  if (own._tag === "Failed") return Effect.succeed(refused(deviceId, own.error))
  const { device, input } = own
  return input.finish.pipe(
    Effect.map((chunk): WriteOutcome => {
      tellAdded(path.telling, device, chunk)
      return { _tag: "Stored", receipt: makeReceipt(path.key, device, chunk) }
    }),
    Effect.catch((error) => Effect.succeed(refused(deviceId, error)))
  )
}

/** The next targets whose capabilities hold, and the refusals of the others, by device. */
const allowNext = Effect.fnUntraced(function* (path: DataPath, request: WriteRequest) {
  const denied = new Map<string, WriteOutcome>()
  const allowed: Array<ChunkTarget> = []
  for (const target of request.targets.slice(1)) {
    const error = yield* Effect.flip(checkPassedOn(path.key, writeRight(request, target))).pipe(
      Effect.catch(() => Effect.void)
    )
    if (error === undefined) allowed.push(target)
    else denied.set(target.deviceId, refused(target.deviceId, error))
  }
  return { allowed, denied }
})

const attemptWrite = Effect.fnUntraced(function* (path: DataPath, request: WriteRequest) {
  const [target] = request.targets
  if (target === undefined) return []
  const begun = yield* beginOwn(path, request, target)
  const { allowed, denied } = yield* allowNext(path, request)
  const { chunk, length, deadline } = request
  const relay = yield* startRelay({ chunk, length, targets: allowed, deadline })
  const own = yield* pump(request, begun, relay)
  const [stored, passed] = yield* Effect.all(
    [finishOwn(path, target.deviceId, own), relay.finish],
    { concurrency: 2 }
  )
  const passedOn = new Map(allowed.map((next, index) => [next.deviceId, passed[index]]))
  const outcomes = request.targets
    .slice(1)
    .flatMap(({ deviceId }) => passedOn.get(deviceId) ?? denied.get(deviceId) ?? [])
  return [stored, ...outcomes]
})

/** Serves a write; one outcome for each target, in order. */
export const serveWrite = (
  path: DataPath,
  request: WriteRequest
): Effect.Effect<ReadonlyArray<WriteOutcome>, never, ChunkTransport> =>
  Effect.scoped(attemptWrite(path, request))
