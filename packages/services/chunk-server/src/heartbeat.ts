/**
 * Heartbeats: one at a time, for ever, whatever else the server does.
 *
 *     figures, outcomes, changes ─▶ metadata service ─▶ commands, reports wanted, refusals
 *
 * 1. While there is news the next heartbeat does not wait for its interval.
 * 2. While the service is away, attempts go on with pauses that grow up to a bound, each a little
 *    different, so that many servers do not come back at one moment.
 * 3. A device that the service refuses is not served; each reply says anew which ones those are.
 */
import type { Messaging } from "@holdfast/messaging"
import { makeCaller, makeRequestId, MetadataChunkServerOperations } from "@holdfast/wire"
import { Clock, Duration, Effect, Random, type Scope } from "effect"
import type { Commands } from "./commands.ts"
import type { DeviceSet } from "./device-set.ts"
import { reportDevice, type Reporter } from "./full-report.ts"
import type { ServedDevice } from "./served-device.ts"
import type { ServiceTime } from "./service-time.ts"

/** What a heartbeat needs to know and to reach. */
export interface Heart extends Reporter {
  readonly devices: DeviceSet
  readonly commands: Commands
  readonly time: ServiceTime
  /** Monotonic time of the last heartbeat that was answered, in nanoseconds. */
  lastAnswered: bigint | undefined
  /** Why the last heartbeat was not answered. */
  silence: string | undefined
}

type HeartbeatReply = (typeof MetadataChunkServerOperations.heartbeat.response)["Type"]
type DeviceFigures = MetadataChunkServerOperations.DeviceFigures

/** The shortest time between two heartbeats: what is new meanwhile travels together. */
const gapMin = Duration.millis(20)
const usageDeadline = Duration.seconds(2)

const callHeartbeat = makeCaller(MetadataChunkServerOperations.heartbeat)

/** A device whose disk does not answer is left out: the service counts its copies out in time. */
const figuresOf = (device: ServedDevice) =>
  device.store.usage.pipe(
    Effect.map(({ capacity, used, available }): ReadonlyArray<DeviceFigures> => [
      {
        deviceId: device.deviceId,
        epoch: device.epoch,
        capacity,
        used,
        available,
        digest: device.ledger.digest()
      }
    ]),
    Effect.timeoutOrElse({ duration: usageDeadline, orElse: () => Effect.succeed([]) }),
    Effect.catch(() => Effect.succeed([]))
  )

const send = Effect.fnUntraced(function* (
  heart: Heart,
  options: { readonly goodbye: boolean; readonly deadline: Duration.Duration }
) {
  const { telling, url } = heart
  const { hostId, incarnation, clusterId, rack } = heart.options
  const figures = yield* Effect.forEach(heart.devices.open(), figuresOf, {
    concurrency: "unbounded"
  })
  heart.sequence += 1
  const { sequence } = heart
  telling.hasNews.closeUnsafe()
  const { response } = yield* callHeartbeat({
    cluster: clusterId,
    request: {
      hostId,
      incarnation,
      url,
      ...(rack === undefined ? {} : { rack }),
      sequence,
      devices: figures.flat(),
      outcomes: telling.outcomes.batch(sequence),
      changes: telling.changes.batch(sequence),
      goodbye: options.goodbye
    },
    deadline: options.deadline,
    requestId: yield* makeRequestId,
    sender: hostId
  })
  return response
})

const noteRefusals = (heart: Heart, reply: HeartbeatReply) =>
  Effect.forEach(heart.devices.open(), (device) => {
    const reason = reply.refused.find(({ deviceId }) => deviceId === device.deviceId)?.reason
    if (reason === device.refusal) return Effect.void
    device.refusal = reason
    return reason === undefined
      ? Effect.logInfo(`device ${device.deviceId} is served again`)
      : Effect.logError(`device ${device.deviceId} may not be served here: ${reason}`)
  })

const takeReply = Effect.fnUntraced(function* (heart: Heart, reply: HeartbeatReply) {
  const { telling, commands } = heart
  if (reply.seconds !== undefined) yield* heart.time.hear(reply.seconds)
  const told = telling.outcomes.confirm(reply.confirmed)
  telling.changes.confirm(reply.confirmed)
  commands.forget(told.map(({ commandId }) => commandId))
  if (telling.outcomes.unsent() + telling.changes.unsent() > 0) telling.hasNews.openUnsafe()
  yield* noteRefusals(heart, reply)
  for (const command of reply.commands) yield* commands.accept(command)
  for (const { deviceId, lease } of reply.reportsWanted) {
    const device = heart.devices.find(deviceId)
    if (device !== undefined) yield* Effect.forkScoped(reportDevice(heart, device, lease))
  }
})

const noteSilence = (heart: Heart, reason: string | undefined) =>
  Effect.suspend(() => {
    if (heart.silence === reason) return Effect.void
    heart.silence = reason
    return reason === undefined
      ? Effect.logInfo("heartbeats are answered")
      : Effect.logWarning(`a heartbeat is not answered: ${reason}`)
  })

/** One heartbeat; answers the pause before the next, or nothing when it was not answered. */
const beat = (heart: Heart) =>
  Effect.gen(function* () {
    const deadline = heart.settings.callDeadline
    const reply = yield* send(heart, { goodbye: false, deadline })
    heart.lastAnswered = yield* Clock.monotonicTimeNanos
    yield* noteSilence(heart, undefined)
    yield* takeReply(heart, reply)
    return Duration.millis(reply.intervalMs)
  }).pipe(
    Effect.catch((error) =>
      Effect.as(
        noteSilence(heart, "code" in error ? `${error.code}: ${error.message}` : error.message),
        undefined
      )
    )
  )

const pauseAfterFailures = Effect.fnUntraced(function* (heart: Heart, failures: number) {
  const { heartbeat, backoffMax } = heart.settings
  const grown = Duration.toMillis(heartbeat) * 2 ** Math.min(failures - 1, 16)
  const bounded = Math.min(grown, Duration.toMillis(backoffMax))
  return Duration.millis(bounded * (0.5 + (yield* Random.next)))
})

/** Beats for ever; ends with its fiber. */
export const beatForEver = (heart: Heart): Effect.Effect<never, never, Messaging | Scope.Scope> => {
  let failures = 0
  const round = Effect.gen(function* () {
    const interval = yield* beat(heart)
    failures = interval === undefined ? failures + 1 : 0
    if (interval === undefined) {
      yield* Effect.sleep(yield* pauseAfterFailures(heart, failures))
      return
    }
    yield* Effect.sleep(Duration.min(gapMin, interval))
    yield* Effect.raceFirst(Effect.sleep(interval), heart.telling.hasNews.await)
  })
  return Effect.forever(
    Effect.catchCause(round, (cause) =>
      Effect.andThen(Effect.logError("a heartbeat failed", cause), Effect.sleep(gapMin))
    )
  )
}

/** Says that this server stops, so that its copies are counted out at once. */
export const sayGoodbye = (heart: Heart): Effect.Effect<void, never, Messaging> =>
  send(heart, { goodbye: true, deadline: heart.settings.goodbyeDeadline }).pipe(
    Effect.asVoid,
    Effect.timeoutOrElse({
      duration: heart.settings.goodbyeDeadline,
      orElse: () => Effect.void
    }),
    Effect.catch((error) => Effect.logWarning(`the goodbye was not heard: ${error.message}`))
  )
