/** How a chunk server is, as it shows itself to a scraper; what it has done is in `counters.ts`. */
import { Effect, Metric } from "effect"
import type { Heart } from "./heartbeat.ts"
import { statusOf } from "./status.ts"

const copies = Metric.gauge("holdfast_chunk_server_copies", {
  description: "finished copies, by device"
})
const usedBytes = Metric.gauge("holdfast_chunk_server_used_bytes", {
  description: "bytes of finished copies, by device"
})
const availableBytes = Metric.gauge("holdfast_chunk_server_available_bytes", {
  description: "bytes that a device may still take"
})
const badCopies = Metric.gauge("holdfast_chunk_server_bad_copies", {
  description: "copies that a read or a check found bad and that are still there, by device"
})
const serving = Metric.gauge("holdfast_chunk_server_serving", {
  description: "1 while a device is served, 0 while it is refused or cannot be opened"
})
const commandsUnderWay = Metric.gauge("holdfast_chunk_server_commands", {
  description: "commands of the metadata service that wait or run, by kind"
})
const heartbeatAge = Metric.gauge("holdfast_chunk_server_heartbeat_age_seconds", {
  description: "time since the metadata service answered; absent before it ever did"
})
/** Shows how the server is now. */
export const showServer = Effect.fnUntraced(function* (heart: Heart): Effect.fn.Return<void> {
  const { commands, devices, lastHeartbeatMs } = yield* statusOf(heart)
  for (const { available, copies: held, deviceId, directory, state, used } of devices) {
    const label = { device: deviceId ?? directory }
    const bad = heart.devices.open().find((open) => open.deviceId === deviceId)?.knownBad.size ?? 0
    yield* Metric.update(Metric.withAttributes(copies, label), held)
    yield* Metric.update(Metric.withAttributes(usedBytes, label), used)
    yield* Metric.update(Metric.withAttributes(availableBytes, label), available)
    yield* Metric.update(Metric.withAttributes(badCopies, label), bad)
    yield* Metric.update(Metric.withAttributes(serving, label), state === "serving" ? 1 : 0)
  }
  for (const [kind, count] of Object.entries(commands)) {
    yield* Metric.update(Metric.withAttributes(commandsUnderWay, { kind }), count)
  }
  if (lastHeartbeatMs !== undefined) yield* Metric.update(heartbeatAge, lastHeartbeatMs / 1_000)
})

/** Shows it again and again; a disk that does not answer leaves the figures as they were. */
export const showForEver = (heart: Heart): Effect.Effect<never> => {
  const { callDeadline, showEvery } = heart.settings
  const once = showServer(heart).pipe(
    Effect.timeoutOrElse({ duration: callDeadline, orElse: () => Effect.void })
  )
  return Effect.forever(Effect.andThen(once, Effect.sleep(showEvery)))
}
