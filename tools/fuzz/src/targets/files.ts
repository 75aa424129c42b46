/**
 * Files and directories that a service opens by itself: a journal, a device, a configuration. Each
 * case damages one file of a fresh copy and opens it as the service does.
 */
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileJournal, layerChunkDevices } from "@holdfast/adapter-file"
import { type ChunkDeviceError, ChunkDevices, Journal, type JournalError } from "@holdfast/storage"
import { ClusterId } from "@holdfast/wire"
import { Effect, Option, References, Result, Stream } from "effect"
import { readConfigurationFile } from "../../../../packages/process/src/configuration/configuration-file.ts"
import { readNatsContext } from "../../../../packages/process/src/nats/nats-context.ts"
import { parseNatsAddress } from "../../../../packages/process/src/nats/nats-address.ts"
import { natsSettings } from "../../../../packages/process/src/nats/nats-settings.ts"
import { mutateBytes } from "../mutate-bytes.ts"
import type { Random } from "../random.ts"
import type { Target } from "../target.ts"

const clusterId = ClusterId.make("fuzz")
/** How long one opening may take; a hang is a fault. */
const deadline = "4 seconds"

const bytes = (length: number, fill: number): Uint8Array => new Uint8Array(length).fill(fill)

const quiet = <A, E>(effect: Effect.Effect<A, E>): Promise<A> =>
  effect.pipe(
    Effect.provideService(References.MinimumLogLevel, "None"),
    Effect.timeout(deadline),
    Effect.runPromise
  )

/** Typed refusals are right answers; anything else is a fault. */
const refusable = <A>(
  effect: Effect.Effect<A, JournalError | ChunkDeviceError>
): Effect.Effect<void> => Effect.asVoid(Effect.result(effect))

const journal = (directory: string) => fileJournal({ directory, clusterId })

const writeJournal = (directory: string): Promise<void> =>
  quiet(
    Effect.gen(function* () {
      const { append, compact, recover } = yield* Journal
      yield* Stream.runDrain((yield* recover).entries)
      yield* append([bytes(40, 1), bytes(3, 2)])
      yield* compact([bytes(100, 3), bytes(1, 4)])
      yield* append([bytes(9, 5)])
      yield* append([bytes(2_000, 6), bytes(1, 7)])
    }).pipe(Effect.provide(journal(directory)))
  )

const openJournal = (directory: string): Promise<void> =>
  quiet(
    refusable(
      Effect.gen(function* () {
        const { append, recover } = yield* Journal
        const { entries, snapshot } = yield* recover
        yield* Stream.runDrain(snapshot)
        yield* Stream.runDrain(entries)
        yield* append([bytes(5, 8)])
      }).pipe(Effect.provide(journal(directory)))
    )
  )

const chunks = [1, 2].map((fileId) => ({ fileId, chunkId: 0, version: 1 }))

const opening = { clusterId, reservedBytes: 0, capacityBytes: Option.none<number>() }

const writeDevice = (directory: string): Promise<void> =>
  quiet(
    Effect.gen(function* () {
      const devices = yield* ChunkDevices
      yield* devices.format({ directory, clusterId, deviceId: "d1" })
      const device = yield* devices.open({ directory, ...opening })
      for (const chunk of chunks) {
        const writer = yield* device.begin({ chunk, expectedBytes: 100_000 })
        yield* writer.write(bytes(70_000, chunk.fileId))
        yield* writer.finish
      }
    }).pipe(Effect.scoped, Effect.provide(layerChunkDevices))
  )

const openDevice = (directory: string): Promise<void> =>
  quiet(
    refusable(
      Effect.gen(function* () {
        const device = yield* (yield* ChunkDevices).open({ directory, ...opening })
        yield* Effect.result(Stream.runDrain(device.list))
        for (const chunk of chunks) {
          yield* Effect.result(device.verify(chunk))
          yield* Effect.result(Stream.runDrain(device.read({ chunk, range: Option.none() })))
          const range = Option.some({ start: 10, end: 66_000 })
          yield* Effect.result(Stream.runDrain(device.read({ chunk, range })))
        }
        yield* Effect.result(device.usage)
      }).pipe(Effect.scoped, Effect.provide(layerChunkDevices))
    )
  )

/** Their cases wait for a disk. */
const turnsOfDirectories = 6

/** Files below a directory that hold something. */
const filesIn = (directory: string): ReadonlyArray<string> =>
  readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => readFileSync(file).length > 0)
    .sort()

const directoryTarget = (options: {
  readonly name: string
  readonly takes: string
  readonly write: (directory: string) => Promise<void>
  readonly open: (directory: string) => Promise<void>
}): Target => {
  let sound: Promise<string> | undefined
  const makeSound = async (): Promise<string> => {
    const directory = mkdtempSync(join(tmpdir(), "holdfast-fuzz-"))
    process.once("exit", () => rmSync(directory, { recursive: true, force: true }))
    await options.write(directory)
    return directory
  }
  return {
    name: options.name,
    takes: options.takes,
    turns: turnsOfDirectories,
    run: async (random: Random) => {
      sound ??= makeSound()
      const from = await sound
      const place = mkdtempSync(join(tmpdir(), "holdfast-fuzz-case-"))
      try {
        cpSync(from, place, { recursive: true })
        const file = random.pick(filesIn(place))
        if (random.below(16) === 0) rmSync(file)
        else writeFileSync(file, mutateBytes([readFileSync(file)], random))
        await options.open(place)
      } finally {
        rmSync(place, { recursive: true, force: true })
      }
    }
  }
}

const configurations = [
  '{"nats":"nats://a:4222","user":"bob","password":"hush","tlsfirst":true}',
  '{"url":"nats://a:4222,tls://b","user":"bob","password":"hush","inbox_prefix":"_INBOX_b"}'
].map((text) => Buffer.from(text))

const readConfigurations = (random: Random): void => {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-fuzz-case-"))
  try {
    const file = join(folder, "settings.json")
    const content = mutateBytes(configurations, random)
    writeFileSync(file, content, { mode: 0o600 })
    readConfigurationFile(file, natsSettings)
    cpSync(file, join(folder, "nats", "context", "c.json"))
    const context = readNatsContext("c", { XDG_CONFIG_HOME: folder })
    const url = Result.isSuccess(context) ? context.success["nats"]?.value : undefined
    parseNatsAddress(typeof url === "string" ? url : Buffer.from(content).toString("utf8"))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Everything that is opened from a disk. */
export const fileTargets: ReadonlyArray<Target> = [
  directoryTarget({
    name: "journal-files",
    takes: "logs and snapshots of a journal's directory",
    write: writeJournal,
    open: openJournal
  }),
  directoryTarget({
    name: "device-files",
    takes: "a device: identity, epoch, copies with their block checksums",
    write: writeDevice,
    open: openDevice
  }),
  {
    name: "configuration",
    takes: "files of settings, contexts of the nats command line, addresses",
    run: readConfigurations
  }
]
