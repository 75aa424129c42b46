/**
 * Scrubbing: every copy of a device is read and checked once in a period, at a bounded rate.
 *
 * 1. After each copy there is a pause that keeps the rate at or below the bound and spreads one
 *    pass over the period.
 * 2. Bad copies are told once. A check that could not be made counts as such, never as damage.
 */
import { Clock, Duration, Effect, Stream } from "effect"
import { countScrubbed } from "./counters.ts"
import type { ChunkServerSettings } from "./options.ts"
import type { ServedDevice } from "./served-device.ts"
import { tellBad, type Telling } from "./telling.ts"

/** Figures of one pass. */
export interface ScrubPass {
  readonly checked: number
  readonly bad: number
  /** Checks that could not be made. */
  readonly failed: number
}

/** The shortest time of one pass, however little a device holds. */
const passMin = Duration.seconds(1)
const nanosPerMilli = 1_000_000

const verdict = (
  device: ServedDevice,
  telling: Telling,
  copy: { readonly bytes: number } & {
    readonly chunk: { readonly fileId: number; readonly chunkId: number; readonly version: number }
  }
) =>
  device.store.verify(copy.chunk).pipe(
    Effect.as("checked" as const),
    Effect.catch((error) => {
      if (error.code !== "corrupt") return Effect.succeed("failed" as const)
      tellBad(telling, device, { chunk: copy.chunk, reason: error.message })
      return Effect.succeed("bad" as const)
    })
  )

/** Bytes a second that bring one pass through in the period, within the bound. */
const rateOf = Effect.fnUntraced(function* (device: ServedDevice, settings: ChunkServerSettings) {
  const { used } = yield* device.store.usage
  const spread = used / Duration.toSeconds(settings.scrubPeriod)
  return Math.max(1, Math.min(spread, settings.scrubBytesPerSecondMax))
})

/** Checks every copy once. */
export const scrubOnce = Effect.fnUntraced(function* (
  device: ServedDevice,
  telling: Telling,
  settings: ChunkServerSettings
) {
  const bytesPerSecond = yield* rateOf(device, settings)
  const pass = { checked: 0, bad: 0, failed: 0 }
  yield* device.store.list.pipe(
    Stream.runForEach((copy) =>
      Effect.gen(function* () {
        if (copy._tag === "Damaged") return
        const { fileId, chunkId, version } = copy
        const chunk = { fileId, chunkId, version }
        pass[yield* verdict(device, telling, { chunk, bytes: copy.length })] += 1
        yield* Effect.sleep(Duration.seconds(copy.length / bytesPerSecond))
      })
    )
  )
  const result: ScrubPass = pass
  return result
})

/** Scrubs a device again and again, each pass in its period. */
export const scrubForEver = (
  device: ServedDevice,
  telling: Telling,
  settings: ChunkServerSettings
): Effect.Effect<never> =>
  Effect.gen(function* () {
    const started = yield* Clock.monotonicTimeNanos
    const pass = yield* scrubOnce(device, telling, settings)
    yield* countScrubbed(pass)
    const { checked, bad, failed } = pass
    if (bad + failed > 0) {
      yield* Effect.logWarning(
        `scrubbing of ${device.deviceId}: ${checked} good, ${bad} bad, ${failed} not checked`
      )
    }
    const took = Number((yield* Clock.monotonicTimeNanos) - started) / nanosPerMilli
    const rest = Duration.toMillis(settings.scrubPeriod) - took
    yield* Effect.sleep(Duration.max(passMin, Duration.millis(Math.max(0, rest))))
  }).pipe(
    Effect.catch((error) =>
      Effect.andThen(
        Effect.logWarning(`scrubbing of ${device.deviceId} stopped: ${error.message}`),
        Effect.sleep(settings.reopen)
      )
    ),
    Effect.forever
  )
