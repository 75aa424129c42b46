/** A read: allowed, described, then verified bytes; damage that it meets is told once. */
import { type ChunkEndpointHandlers, type ChunkName } from "@holdfast/storage"
import { Effect, Stream } from "effect"
import { countRead } from "./counters.ts"
import { checkRight } from "./rights.ts"
import { type DataPath, findDevice } from "./serve-write.ts"
import { type ServedDevice, transportError } from "./served-device.ts"
import { tellBad } from "./telling.ts"
import type { ChunkDeviceError } from "@holdfast/storage"

type ReadRequest = Parameters<ChunkEndpointHandlers["read"]>[0]

const noteDamage =
  (path: DataPath, device: ServedDevice, chunk: ChunkName) => (error: ChunkDeviceError) =>
    Effect.sync(() => {
      if (error.code === "corrupt") {
        tellBad(path.telling, device, { chunk, reason: error.message })
      }
    })

/** Serves a read. */
export const serveRead = Effect.fnUntraced(function* (path: DataPath, request: ReadRequest) {
  const { chunk, deviceId, capability, range } = request
  yield* checkRight(path.key, { deviceId, chunk, right: "read", token: capability })
  const device = yield* findDevice(path, deviceId)
  const note = noteDamage(path, device, chunk)
  const description = yield* device.store
    .describe(chunk)
    .pipe(Effect.tapError(note), Effect.mapError(transportError))
  yield* countRead
  const data = device.store
    .read({ chunk, range })
    .pipe(Stream.tapError(note), Stream.mapError(transportError))
  return { description, data }
})
