/** What the server answers when it is asked how it is. */
import { ChunkServerOperations } from "@holdfast/wire"
import { Clock, Effect } from "effect"
import type { DirectoryState } from "./device-set.ts"
import type { Heart } from "./heartbeat.ts"

/** The server's view of itself. */
export type ChunkServerStatus = (typeof ChunkServerOperations.chunkServerStatus.response)["Type"]

const nanosPerMilli = 1_000_000n

type DeviceStatus = ChunkServerStatus["devices"][number]

const describeDirectory = ({
  directory,
  device,
  reason
}: DirectoryState): Effect.Effect<DeviceStatus> => {
  const nothing = { copies: 0, used: 0, available: 0 }
  if (device === undefined) {
    const why = reason === undefined ? {} : { reason }
    return Effect.succeed({ directory, state: "failed", ...why, ...nothing })
  }
  const { deviceId, refusal } = device
  const state = refusal === undefined ? ("serving" as const) : ("refused" as const)
  const why = refusal === undefined ? {} : { reason: refusal }
  return device.store.usage.pipe(
    Effect.map(({ copies, used, available }): DeviceStatus => ({
      deviceId,
      directory,
      state,
      ...why,
      copies,
      used,
      available
    })),
    Effect.catch((error) =>
      Effect.succeed<DeviceStatus>({
        deviceId,
        directory,
        state: "failed",
        reason: error.message,
        ...nothing
      })
    )
  )
}

/** How the server is now. */
export const statusOf = Effect.fnUntraced(function* (
  heart: Heart
): Effect.fn.Return<ChunkServerStatus> {
  const { hostId, incarnation } = heart.options
  const devices = yield* Effect.forEach(heart.devices.directories(), describeDirectory)
  const now = yield* Clock.monotonicTimeNanos
  const last =
    heart.lastAnswered === undefined
      ? {}
      : { lastHeartbeatMs: Number((now - heart.lastAnswered) / nanosPerMilli) }
  const commands = heart.commands.counts()
  return { hostId, incarnation, url: heart.url, devices, commands, ...last }
})
