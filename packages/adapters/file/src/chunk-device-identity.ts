/**
 * A device's identity file: one line of JSON and the CRC-32 of it in hex on the second line.
 *
 * 1. It is written once, after everything else that `format` makes is durable, and never again.
 * 2. A directory without it is an unmounted disk or was never formatted: nothing is written there.
 * 3. An identity with a wrong checksum is `corrupt`; it is never guessed and never rewritten.
 */
import { dirname, resolve } from "node:path"
import { crc32 } from "node:zlib"
import { type ChunkDeviceError, DeviceIdentity } from "@holdfast/storage"
import { DateTime, Effect, Schema } from "effect"
import { attempt, attemptExisting, errnoOf, refusal } from "./chunk-device-errors.ts"
import type { Disk } from "./chunk-device-disk.ts"
import { writeWhole } from "./durable-file.ts"
import { type DeviceLayout, deviceLayout } from "./chunk-device-layout.ts"

/** The format this code writes and the newest it reads. */
export const deviceFormatVersion = 1

const identityCodec = Schema.fromJsonString(DeviceIdentity)
const namePattern = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/

const encodeIdentity = (identity: DeviceIdentity): Uint8Array => {
  const line = Schema.encodeSync(identityCodec)(identity)
  return new TextEncoder().encode(`${line}\n${crc32(line).toString(16).padStart(8, "0")}\n`)
}

const decodeIdentity = (subject: { readonly deviceId: string }, bytes: Uint8Array) => {
  const corrupt = (reason: string) =>
    Effect.fail(refusal(subject, "corrupt", `the identity file cannot be trusted: ${reason}`))
  const [line = "", checksum = ""] = new TextDecoder().decode(bytes).split("\n")
  if (crc32(line).toString(16).padStart(8, "0") !== checksum) return corrupt("wrong checksum")
  return Schema.decodeEffect(identityCodec)(line).pipe(
    Effect.catch((error) => corrupt(error.message))
  )
}

/** Reads the identity of a directory; `not-formatted` when there is none. */
export const readIdentity = Effect.fnUntraced(function* (disk: Disk, layout: DeviceLayout) {
  const subject = { deviceId: layout.directory }
  const bytes = yield* attemptExisting(subject, "read the identity", () =>
    disk.readFile(layout.identity)
  )
  if (bytes === undefined) {
    return yield* refusal(
      subject,
      "not-formatted",
      `${layout.directory} holds no device: mount its disk, or format it if it is new`
    )
  }
  const identity = yield* decodeIdentity(subject, bytes)
  if (identity.formatVersion > deviceFormatVersion) {
    return yield* refusal(
      { deviceId: identity.deviceId },
      "foreign",
      `the device has format ${identity.formatVersion}, this program knows ${deviceFormatVersion}`
    )
  }
  return identity
})

const refuseNames = (options: { readonly clusterId: string; readonly deviceId: string }) => {
  const wrong = [options.clusterId, options.deviceId].find((name) => !namePattern.test(name))
  return wrong === undefined
    ? Effect.void
    : Effect.fail(
        refusal(options, "foreign", `${JSON.stringify(wrong)} is no id; ids match ${namePattern}`)
      )
}

/** Names that a new disk has by itself, or that a `format` cut short leaves. */
const ignoredNames = new Set(["lost+found", "identity.draft", "incoming", "chunks"])

const refuseUsedDirectory = Effect.fnUntraced(function* (
  disk: Disk,
  layout: DeviceLayout,
  subject: { readonly deviceId: string }
) {
  const names = yield* attempt(subject, "list the directory", () => disk.names(layout.directory))
  if (names.includes("identity")) {
    return yield* refusal(subject, "exists", `${layout.directory} is a device already`)
  }
  const strange = names.filter((name) => !ignoredNames.has(name))
  for (const folder of [layout.incoming, layout.chunks]) {
    const found = yield* attemptExisting(subject, "list a folder", () => disk.names(folder))
    strange.push(...(found ?? []))
  }
  if (strange.length > 0) {
    return yield* refusal(
      subject,
      "exists",
      `${layout.directory} is not empty (${strange.slice(0, 3).join(", ")}): name an empty directory`
    )
  }
})

const makeMissing = (
  disk: Disk,
  subject: { readonly deviceId: string },
  path: string
): Effect.Effect<void, ChunkDeviceError> =>
  attempt(subject, `make ${path}`, () =>
    disk.makeDirectory(path).catch((cause: unknown) => {
      if (errnoOf(cause) !== "EEXIST") throw cause
    })
  )

/** Makes a device of an empty directory; makes the directory itself when its parent exists. */
export const formatDevice = Effect.fnUntraced(function* (
  disk: Disk,
  options: { readonly directory: string; readonly clusterId: string; readonly deviceId: string }
) {
  yield* refuseNames(options)
  const layout = deviceLayout(options.directory)
  yield* makeMissing(disk, options, layout.directory)
  yield* attempt(options, "make the directory durable", () =>
    disk.syncDirectory(dirname(resolve(layout.directory)))
  )
  yield* refuseUsedDirectory(disk, layout, options)
  yield* makeMissing(disk, options, layout.incoming)
  yield* makeMissing(disk, options, layout.chunks)
  yield* attempt(options, "make the folders durable", () => disk.syncDirectory(layout.directory))
  yield* attemptExisting(options, "remove a draft", () => disk.unlink(layout.identityDraft))
  const identity: DeviceIdentity = {
    formatVersion: deviceFormatVersion,
    clusterId: options.clusterId,
    deviceId: options.deviceId,
    created: DateTime.formatIso(yield* DateTime.now)
  }
  const paths = {
    temporary: layout.identityDraft,
    path: layout.identity,
    directory: layout.directory
  }
  yield* attempt(options, "write the identity", () =>
    writeWhole(disk, paths, encodeIdentity(identity))
  )
  return identity
})
