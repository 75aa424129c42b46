/**
 * Publish: the commit of a version of a chunk.
 *
 * 1. The replica set of the new version is exactly the devices whose receipts count.
 * 2. Copies of the version before become stale; they are deleted only when enough copies of the new
 *    one are assured (`sweep-odd.ts`).
 * 3. A version that is committed already is answered again, whatever the request id; its receipts
 *    add no holder, because what they prove may be gone since.
 * 4. The record is in the journal before the answer leaves.
 */
import * as Result from "effect/Result"
import { findDevice } from "./devices.ts"
import { digestAdd, emptyDigest } from "./digest.ts"
import type { Draft } from "./draft.ts"
import { chunkIdMax, goalMax, isWhole, type ChunkCopy } from "./identity.ts"
import { abandonLease, closeLease } from "./lease.ts"
import { judgeOddAnew } from "./merge.ts"
import type { Device, Lease, Published, PublishedDevice } from "./model.ts"
import { dropOdd, putOdd } from "./odd.ts"
import { rowRecord, seek, type ChunkRecord, type Cursor } from "./packed-tree.ts"
import { refuse, type Refusal } from "./refusal.ts"
import { queueIfWanted } from "./repair-class.ts"
import { recall, remember } from "./requests.ts"
import { LOCATED, RETIRED } from "./slots.ts"

/** A device's word that it holds a copy; `proven` when its proof was checked. */
export interface Receipt {
  readonly deviceId: string
  readonly epoch: number
  readonly chunk: ChunkCopy
  readonly proven: boolean
}

/** Commits a version. */
export interface Publish {
  readonly requestId: string | null
  readonly leaseId: number
  readonly chunk: ChunkCopy
  readonly goal: number
  /** The copies without which nothing is committed. */
  readonly min: number
  readonly receipts: ReadonlyArray<Receipt>
}

type Status = PublishedDevice["status"]

/** What a receipt is worth. */
const judgeReceipt = (
  draft: Draft,
  device: Device | undefined,
  chunk: ChunkCopy,
  receipt: Receipt
): Status => {
  if (device === undefined) return "unknown-device"
  const same =
    receipt.chunk.fileId === chunk.fileId &&
    receipt.chunk.chunkId === chunk.chunkId &&
    receipt.chunk.version === chunk.version
  if (!receipt.proven || !same) return "bad-receipt"
  if (receipt.chunk.length !== chunk.length || receipt.chunk.checksum !== chunk.checksum) {
    return "other-bytes"
  }
  if (device.slot < 0 || (draft.slots.flags[device.slot]! & LOCATED) === 0) return "offline-device"
  return receipt.epoch === device.epoch ? "counted" : "stale-epoch"
}

/** Commits a version; see the module comment. O(log chunks + receipts). */
export const publish = (draft: Draft, command: Publish): Result.Result<Published, Refusal> => {
  const known = recall(draft, command.requestId)
  if (known?._tag === "Publish") return Result.succeed(known.reply)
  const { chunk, goal } = command
  if (!isWhole(goal, 1, goalMax) || !isWhole(chunk.length, 0, chunkIdMax)) {
    return refuse("invalid-request", "the goal or the length is out of range")
  }
  const { cursor } = draft
  const recorded = seek(draft.chunks, chunk.fileId, chunk.chunkId, cursor)
  const record = recorded ? rowRecord(cursor.words, cursor.offset) : undefined
  if (record !== undefined && record.version >= chunk.version) {
    return answerAgain(draft, command, record)
  }
  const lease = draft.leases.get(command.leaseId)
  const refused = checkLease(draft, command, lease)
  if (refused !== null || lease === undefined) return refused ?? unknownLease(command)
  const holders: Array<Device> = []
  const devices: Array<PublishedDevice> = []
  for (const receipt of command.receipts) {
    const device = findDevice(draft, receipt.deviceId)
    const status = judgeReceipt(draft, device, chunk, receipt)
    devices.push({ deviceId: receipt.deviceId, status })
    if (status === "counted" && device !== undefined && !holders.includes(device)) {
      holders.push(device)
    }
  }
  if (holders.length < Math.max(1, command.min)) return tooFew(command, holders.length, devices)
  commit(draft, command, { cursor, record }, holders)
  closeLease(draft, lease)
  const reply = { copies: holders.length, devices }
  remember(draft, command.requestId, { _tag: "Publish", reply })
  return Result.succeed(reply)
}

const tooFew = (
  command: Publish,
  confirmed: number,
  devices: ReadonlyArray<PublishedDevice>
): Result.Result<never, Refusal> => {
  const said = devices.map(({ deviceId, status }) => `${deviceId}: ${status}`).join(", ")
  const sentence = `${command.min} copies are wanted at least, ${confirmed} are confirmed (${said})`
  return refuse("too-few-copies", sentence)
}

const unknownLease = (command: Publish) =>
  refuse("unknown-lease", `lease ${command.leaseId} was never given out for this chunk`)

const checkLease = (
  draft: Draft,
  command: Publish,
  lease: Lease | undefined
): Result.Result<never, Refusal> | null => {
  const { chunk, leaseId } = command
  if (lease === undefined) {
    if (!(leaseId < draft.scalars.nextVersion)) return unknownLease(command)
    return refuse("lease-expired", `lease ${leaseId} is over; allocate and write again`)
  }
  const same =
    lease.fileId === chunk.fileId &&
    lease.chunkId === chunk.chunkId &&
    lease.version === chunk.version
  if (!same) return unknownLease(command)
  if (lease.expiresAt <= draft.now) {
    return refuse("lease-expired", `lease ${leaseId} is over; allocate and write again`)
  }
  if (chunk.length > lease.size) {
    return refuse("invalid-request", `the lease reserves ${lease.size} bytes, not ${chunk.length}`)
  }
  return null
}

/** A repeated publish is answered as it was; one that lost against a newer version is refused. */
const answerAgain = (
  draft: Draft,
  command: Publish,
  record: ChunkRecord
): Result.Result<Published, Refusal> => {
  const { chunk } = command
  const same =
    record.version === chunk.version &&
    record.length === chunk.length &&
    record.checksum === chunk.checksum
  if (!same) {
    return refuse(
      "stale-version",
      `chunk ${chunk.fileId}/${chunk.chunkId} is committed at version ${record.version}`
    )
  }
  const devices = command.receipts.map((receipt) => {
    const device = findDevice(draft, receipt.deviceId)
    const status = judgeReceipt(draft, device, chunk, receipt)
    const slot = device?.slot ?? -1
    const counts = status !== "counted" || draft.sets.has(record.set, slot)
    return { deviceId: receipt.deviceId, status: counts ? status : "bad-receipt" }
  })
  return Result.succeed({ copies: draft.sets.members(record.set).length, devices })
}

const commit = (
  draft: Draft,
  command: Publish,
  place: { readonly cursor: Cursor; readonly record: ChunkRecord | undefined },
  holders: ReadonlyArray<Device>
): void => {
  const { chunk, goal } = command
  const { cursor, record: before } = place
  const { fileId, chunkId, version, length, checksum } = chunk
  const digest = digestAdd(emptyDigest, fileId, chunkId, version)
  let set = 0
  for (const device of holders) {
    set = draft.sets.with(set, device.slot)
    const counted = draft.odd.size > 0 && dropOdd(draft, chunk, device.slot, version)
    if (!counted) draft.figures.holdHashed(device.index, digest, 1, false)
  }
  if (before !== undefined) {
    draft.counts.add(before.set, before.goal, -1)
    setBeforeAside(draft, before)
  }
  draft.counts.add(set, goal, 1)
  const row = { fileId, chunkId, version, goal, length, checksum, set }
  draft.chunks.putAt(cursor, before !== undefined, row)
  draft.journal.push({ _tag: "Committed", fileId, chunkId, version, goal, length, checksum })
  judgeOddAnew(draft, chunk)
  if (holders.length < goal) queueIfWanted(draft, { fileId, chunkId, set, goal })
}

/** The copies of the version before become stale. */
const setBeforeAside = (draft: Draft, before: ChunkRecord): void => {
  const { version, length, checksum } = before
  for (const slot of draft.sets.members(before.set)) {
    if ((draft.slots.flags[slot]! & RETIRED) !== 0) continue
    putOdd(draft, before, { slot, version, length, checksum, kind: "stale" })
  }
}

/** Gives a reservation back; an unknown one is no error. */
export const abandon = (draft: Draft, command: { readonly leaseId: number }): void => {
  const lease = draft.leases.get(command.leaseId)
  if (lease !== undefined) abandonLease(draft, lease)
}
