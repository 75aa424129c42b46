/**
 * Removing one copy: its name goes, its folder is synced, and only then the answer comes.
 *
 * 1. `not-found` waits for the folder too: another removal of the same copy may be under way, or
 *    an earlier one may have failed at its sync, and whoever hears it forgets the copy.
 * 2. The accounts change with the name, while no other name is taken, whatever the sync says.
 */
import { join } from "node:path"
import type { ChunkDeviceError, ChunkName } from "@holdfast/storage"
import { Effect } from "effect"
import { lengthOfFile } from "./block-file-format.ts"
import { chunkWords, copyFile, notFound } from "./chunk-device-copy.ts"
import { attempt, attemptExisting } from "./chunk-device-errors.ts"
import { copyPath } from "./chunk-device-layout.ts"
import type { WritableDevice } from "./chunk-device-write.ts"

/** Takes a copy's name away; false when it is not there. */
const takeNameAway = Effect.fnUntraced(function* (device: WritableDevice, chunk: ChunkName) {
  const path = copyFile(device, chunk)
  const stat = yield* attemptExisting(device, "look at a copy", () => device.disk.stat(path))
  if (stat === undefined) return false
  yield* attempt(device, `remove ${chunkWords(chunk)}`, () => device.disk.unlink(path))
  device.room.remove(lengthOfFile(stat.size))
  return true
})

/** Removes a copy's name durably; `not-found` when there is none. */
export const removeCopy = Effect.fnUntraced(function* (
  device: WritableDevice,
  chunk: ChunkName
): Effect.fn.Return<void, ChunkDeviceError> {
  yield* device.claim.confirm
  const wasThere = yield* device.naming
    .withPermits(1)(takeNameAway(device, chunk))
    .pipe(Effect.uninterruptible)
  yield* attemptExisting(device, "make a removal durable", () =>
    device.folders.sync(join(device.layout.chunks, copyPath(chunk).folder))
  )
  if (!wasThere) return yield* notFound(device, chunk)
})
