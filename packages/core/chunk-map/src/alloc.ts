/**
 * Allocation: a reservation of room for one version of one chunk on distinct devices.
 *
 * ```
 *   candidates ─ exclude, room ─▶ eligible ─▶ one of few sets of them (`placement.ts`)
 * ```
 * 1. Below `min` devices nothing is reserved; between `min` and `want` the rest is left to repair.
 * 2. The version that is allotted is in the journal's mark before the answer leaves.
 */
import * as Result from "effect/Result"
import { candidates } from "./devices.ts"
import { allotFileId, allotNumber, canAllot, type Draft } from "./draft.ts"
import { chunkIdMax, goalMax, isWhole } from "./identity.ts"
import { nextChunkId, openLease } from "./lease.ts"
import type { Allocation, CreatedFile, Device } from "./model.ts"
import { findRecord } from "./packed-tree.ts"
import { drawSet } from "./placement.ts"
import { refuse, type Refusal } from "./refusal.ts"
import { recall, remember } from "./requests.ts"
import { roomOf } from "./room.ts"
import { safeModeRetryMs } from "./safe-mode-view.ts"

/** Asks for a file id that was never used. */
export interface CreateFile {
  readonly requestId: string | null
}

/** Asks for room; `random` is 32 random bits. */
export interface Alloc {
  readonly requestId: string | null
  readonly random: number
  readonly fileId: number
  /** The chunk to write anew; null for the next one of the file. */
  readonly chunkId: number | null
  readonly size: number
  readonly want: number
  readonly min: number
  readonly exclude: ReadonlyArray<string>
}

/** Allots a file id. */
export const createFile = (
  draft: Draft,
  command: CreateFile
): Result.Result<CreatedFile, Refusal> => {
  const known = recall(draft, command.requestId)
  if (known?._tag === "CreateFile") return Result.succeed(known.reply)
  if (!canAllot(draft, 1)) return refuse("ids-exhausted", "every file id has been given out")
  const reply = { fileId: allotFileId(draft) }
  remember(draft, command.requestId, { _tag: "CreateFile", reply })
  return Result.succeed(reply)
}

/** Reserves room. */
export const alloc = (draft: Draft, command: Alloc): Result.Result<Allocation, Refusal> => {
  const known = recall(draft, command.requestId)
  if (known?._tag === "Alloc") return Result.succeed(known.reply)
  const invalid = checkAlloc(draft, command)
  if (invalid !== null) return invalid
  const chunkId = command.chunkId ?? nextChunkId(draft, command.fileId)
  if (chunkId > chunkIdMax) return refuse("ids-exhausted", "the file has no chunk id left")
  const chosen = choose(draft, command)
  if (Result.isFailure(chosen)) return Result.fail(chosen.failure)
  const { fileId, size } = command
  const version = allotNumber(draft)
  const devices = chosen.success
  const expiresAt = draft.now + draft.settings.leaseMs
  const indexes = devices.map((device) => device.index)
  openLease(draft, { fileId, chunkId, version, size, devices: indexes, expiresAt })
  const deviceIds = devices.map((device) => device.deviceId)
  const reply = { leaseId: version, fileId, chunkId, version, devices: deviceIds, expiresAt }
  remember(draft, command.requestId, { _tag: "Alloc", reply })
  return Result.succeed(reply)
}

const checkAlloc = (draft: Draft, command: Alloc): Result.Result<never, Refusal> | null => {
  const { fileId, chunkId, size, want, min } = command
  const valid =
    isWhole(fileId, 1, draft.scalars.nextFileId - 1) &&
    isWhole(size, 0, chunkIdMax) &&
    isWhole(want, 1, goalMax) &&
    isWhole(min, 1, want)
  if (!isWhole(fileId, 1, draft.scalars.nextFileId - 1)) {
    return refuse("unknown-file", `file ${fileId} was never created`)
  }
  if (!valid) {
    return refuse("invalid-request", "size, want or min is out of range: 1 <= min <= want <= 15")
  }
  const retry = safeModeRetryMs(draft)
  if (retry !== null) return refuse("not-ready", "nothing is allocated in safe mode", retry)
  if (chunkId !== null && findRecord(draft.chunks, { fileId, chunkId }) === undefined) {
    return refuse("no-such-chunk", `chunk ${fileId}/${chunkId} is not committed`)
  }
  if (draft.leases.size >= draft.settings.leasesMax) {
    const wait = draft.settings.heartbeatMs
    return refuse("overloaded", `${draft.settings.leasesMax} reservations are open`, wait)
  }
  if (!canAllot(draft, 1)) return refuse("ids-exhausted", "every version has been given out")
  return null
}

/** A small generator of 32-bit numbers (xorshift), for the picks of one allocation. */
const generator = (seed: number): (() => number) => {
  let value = seed | 0 || 0x9e3779b9
  return () => {
    value ^= value << 13
    value ^= value >>> 17
    value ^= value << 5
    return value >>> 0
  }
}

const choose = (draft: Draft, command: Alloc): Result.Result<ReadonlyArray<Device>, Refusal> => {
  const { size, want, min } = command
  const allowed = candidates(draft).filter((device) => !command.exclude.includes(device.deviceId))
  const wait = draft.settings.heartbeatMs
  if (allowed.length < min) {
    const sentence = `${min} devices are wanted at least, ${allowed.length} take new chunks now`
    return refuse("not-enough-devices", sentence, wait)
  }
  const eligible = allowed.filter((device) => roomOf(draft, device) >= size)
  if (eligible.length < min) {
    const room = `${eligible.length} have ${size} bytes of room`
    const sentence = `${min} devices are wanted at least, ${room}`
    return refuse("no-space", sentence, wait)
  }
  return Result.succeed(drawSet(draft, eligible, want, generator(command.random)))
}
