/**
 * Who holds a device: numbered claims, one file for each opening; they are its epochs too.
 *
 *     claim-7 {pid, started, boot, released}     the highest number holds the device
 *
 * 1. A claim is complete when its name appears (a hard link to a synced file), and its name is
 *    never taken twice: of two processes that want the same number one gets `EEXIST`.
 * 2. The highest claim is never removed, only a higher one takes its place; so numbers rise for
 *    ever, and whoever sees its own claim as the highest after making it holds the device.
 * 3. A claim is dead when it says that it was released, or when its process is gone: another boot,
 *    another PID name space, no such process, or a process that started at another time (a number
 *    used again). No clean-up after `kill -9` is needed.
 * 4. A holder whose claim file is gone was superseded, or its disk was unmounted: it stops.
 *
 * Processes in different PID name spaces (two containers) cannot see each other: there the later
 * one takes the device, and the earlier one stops at its next commit by (4).
 */
import { randomUUID } from "node:crypto"
import { readFileSync, readlinkSync } from "node:fs"
import { join } from "node:path"
import type { ChunkDeviceError } from "@holdfast/storage"
import { Effect, Result, Schema } from "effect"
import { attempt, attemptExisting, errnoOf, refusal } from "./chunk-device-errors.ts"
import type { Disk } from "./chunk-device-disk.ts"
import { writeWhole } from "./durable-file.ts"
import type { DeviceLayout } from "./chunk-device-layout.ts"

/** What a claim file says. */
const Claim = Schema.Struct({
  pid: Schema.Natural,
  /** The process's start, in clock ticks since boot; 0 where the system does not say. */
  started: Schema.Natural,
  /** The boot, and the PID name space in it. */
  boot: Schema.String,
  released: Schema.Boolean
})
type Claim = typeof Claim.Type
const claimCodec = Schema.fromJsonString(Claim)

/** Field 22 of /proc/<pid>/stat; the second field may hold spaces and brackets. */
const startOf = (pid: number): number => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1")
    return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? 0)
  } catch (cause) {
    if (errnoOf(cause) === "ENOENT" || errnoOf(cause) === "ESRCH") return 0
    throw cause
  }
}

const bootName = (): string => {
  try {
    const boot = readFileSync("/proc/sys/kernel/random/boot_id", "latin1").trim()
    return `${boot} ${readlinkSync("/proc/self/ns/pid")}`
  } catch (cause) {
    if (errnoOf(cause) === "ENOENT") return "unknown"
    throw cause
  }
}

const isProcess = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch (cause) {
    return errnoOf(cause) === "EPERM"
  }
}

const ownClaim = (released: boolean): Claim => ({
  pid: process.pid,
  started: startOf(process.pid),
  boot: bootName(),
  released
})

const isAlive = (claim: Claim): boolean =>
  !claim.released &&
  claim.boot === bootName() &&
  isProcess(claim.pid) &&
  startOf(claim.pid) === claim.started

/** A held device. */
export interface DeviceClaim {
  /** Rises with each opening. */
  readonly epoch: number
  /** Fails with `unavailable` when this process holds the device no longer. */
  readonly confirm: Effect.Effect<void, ChunkDeviceError>
  /** Says that the device is free. */
  readonly release: Effect.Effect<void, ChunkDeviceError>
}

const claimPattern = /^claim-(\d{1,15})$/
const claimPath = (layout: DeviceLayout, epoch: number) => join(layout.directory, `claim-${epoch}`)
const draftPath = (layout: DeviceLayout, epoch: number) =>
  join(layout.directory, `draft-${epoch}-${randomUUID()}`)
const draftPattern = /^draft-(\d{1,15})-/

interface Holder {
  readonly disk: Disk
  readonly layout: DeviceLayout
  readonly deviceId: string
}

const listEpochs = (holder: Holder) =>
  attempt(holder, "list the device", () => holder.disk.names(holder.layout.directory)).pipe(
    Effect.map((names) =>
      names
        .flatMap((name) => claimPattern.exec(name)?.slice(1) ?? [])
        .map(Number)
        .toSorted((left, right) => right - left)
    )
  )

/** A claim that cannot be decoded was damaged after it was made: nobody alive is known by it. */
const readClaim = (holder: Holder, epoch: number) =>
  attemptExisting(holder, "read a claim", () =>
    holder.disk.readFile(claimPath(holder.layout, epoch))
  ).pipe(
    Effect.map((bytes) =>
      bytes === undefined
        ? undefined
        : Result.getOrUndefined(
            Schema.decodeUnknownResult(claimCodec)(new TextDecoder().decode(bytes))
          )
    )
  )

const encodeClaim = (claim: Claim): Uint8Array =>
  new TextEncoder().encode(`${Schema.encodeSync(claimCodec)(claim)}\n`)

const removeQuietly = (holder: Holder, path: string) =>
  attemptExisting(holder, "remove an old claim", () => holder.disk.unlink(path)).pipe(Effect.asVoid)

/** Makes the claim of one number; false when another process was first. */
const tryClaim = Effect.fnUntraced(function* (holder: Holder, epoch: number) {
  const { disk, layout } = holder
  const draft = draftPath(layout, epoch)
  return yield* attempt(holder, "claim the device", async () => {
    const file = await disk.create(draft)
    try {
      await file.write(encodeClaim(ownClaim(false)), 0)
      await file.sync()
    } finally {
      await file.close()
    }
    return disk.link(draft, claimPath(layout, epoch)).then(
      () => true,
      (cause: unknown) => {
        if (errnoOf(cause) === "EEXIST") return false
        throw cause
      }
    )
  }).pipe(Effect.ensuring(Effect.ignore(removeQuietly(holder, draft))))
})

const confirmClaim = (holder: Holder, epoch: number) =>
  attemptExisting(holder, "look at the claim", () =>
    holder.disk.stat(claimPath(holder.layout, epoch))
  ).pipe(
    Effect.flatMap((found) =>
      found === undefined
        ? Effect.fail(
            refusal(
              holder,
              "unavailable",
              "the device is no longer held: it was unmounted or another process took it"
            )
          )
        : Effect.void
    )
  )

const releaseClaim = (holder: Holder, epoch: number) =>
  confirmClaim(holder, epoch).pipe(
    Effect.andThen(
      attempt(holder, "release the device", () =>
        writeWhole(
          holder.disk,
          {
            temporary: draftPath(holder.layout, epoch),
            path: claimPath(holder.layout, epoch),
            directory: holder.layout.directory
          },
          encodeClaim(ownClaim(true))
        )
      )
    )
  )

/** Removes lower claims and the drafts of openings that were cut short. */
const removeOlder = Effect.fnUntraced(function* (holder: Holder, epoch: number) {
  const { disk, layout } = holder
  const names = yield* attempt(holder, "list the device", () => disk.names(layout.directory))
  const isOld = (name: string) =>
    Number((claimPattern.exec(name) ?? draftPattern.exec(name))?.[1] ?? epoch) < epoch
  yield* Effect.forEach(names.filter(isOld), (name) =>
    removeQuietly(holder, join(layout.directory, name))
  )
})

const settleClaim = (holder: Holder, epoch: number) =>
  attempt(holder, "make the claim durable", () =>
    holder.disk.syncDirectory(holder.layout.directory)
  ).pipe(
    Effect.andThen(removeOlder(holder, epoch)),
    Effect.tapError(() => Effect.ignore(releaseClaim(holder, epoch)))
  )

/** Claims the device, or fails with `locked` when another process holds it. */
export const claimDevice = Effect.fnUntraced(function* (
  holder: Holder
): Effect.fn.Return<DeviceClaim, ChunkDeviceError> {
  for (;;) {
    const [highest = 0] = yield* listEpochs(holder)
    const claim = highest === 0 ? undefined : yield* readClaim(holder, highest)
    if (claim !== undefined && isAlive(claim)) {
      return yield* refusal(holder, "locked", `process ${claim.pid} holds the device`)
    }
    const epoch = highest + 1
    if (!(yield* tryClaim(holder, epoch))) continue
    const [winner = 0] = yield* listEpochs(holder)
    if (winner !== epoch) {
      yield* removeQuietly(holder, claimPath(holder.layout, epoch))
      continue
    }
    yield* settleClaim(holder, epoch)
    return {
      epoch,
      confirm: confirmClaim(holder, epoch),
      release: releaseClaim(holder, epoch)
    }
  }
})
