/** Chunk device: write with fsync, read with checks, against plain writes and reads of one file. */
import { mkdtemp, open, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { ChunkDevices } from "@holdfast/storage"
import { figuresOf } from "@holdfast/suites/figures"
import { Effect, Option, Stream } from "effect"
import { layerChunkDevices } from "./index.ts"

const say = figuresOf("chunk device")
const mebibyte = 1024 * 1024
const chunkBytes = 64 * mebibyte
const chunks = 8
const piece = new Uint8Array(64 * 1024).map((_, index) => (index * 31) & 0xff)

const seconds = async (act: () => Promise<void>): Promise<number> => {
  const started = performance.now()
  await act()
  return (performance.now() - started) / 1000
}

const plainWrite = async (path: string) => {
  const file = await open(path, "w")
  const large = new Uint8Array(mebibyte)
  for (let written = 0; written < chunkBytes * chunks; written += large.length) {
    await file.write(large)
  }
  await file.datasync()
  await file.close()
}

const plainRead = async (path: string) => {
  const file = await open(path, "r")
  const large = new Uint8Array(mebibyte)
  while ((await file.read(large, 0, large.length)).bytesRead > 0);
  await file.close()
}

const bench = async () => {
  const directory = await mkdtemp(join(tmpdir(), "holdfast-device-bench-"))
  const device = Effect.gen(function* () {
    const devices = yield* ChunkDevices
    const identity = { clusterId: "bench", deviceId: "d1" }
    const home = join(directory, "d1")
    yield* devices.format({ directory: home, ...identity })
    return yield* devices.open({
      directory: home,
      clusterId: "bench",
      reservedBytes: 0,
      capacityBytes: Option.none()
    })
  })
  await Effect.runPromise(
    Effect.gen(function* () {
      const open = yield* device
      const name = (fileId: number) => ({ fileId, chunkId: 0, version: 1 })
      const timed = (act: Effect.Effect<void, unknown>) =>
        Effect.promise(() => seconds(() => Effect.runPromise(act)))
      const write = (fileId: number, bytes: number) =>
        Effect.scoped(
          Effect.gen(function* () {
            const writer = yield* open.begin({ chunk: name(fileId), expectedBytes: bytes })
            for (let sent = 0; sent < bytes; sent += piece.length) yield* writer.write(piece)
            yield* writer.finish
          })
        )
      const all = Array.from({ length: chunks }, (_, index) => index + 1)
      const written = yield* timed(
        Effect.forEach(all, (fileId) => write(fileId, chunkBytes), {
          concurrency: 2,
          discard: true
        })
      )
      const read = yield* timed(
        Effect.forEach(
          all,
          (fileId) =>
            open
              .read({ chunk: name(fileId), range: Option.none() })
              .pipe(Stream.runForEach(() => Effect.void)),
          { concurrency: 2, discard: true }
        )
      )
      const small = yield* timed(
        Effect.forEach(
          Array.from({ length: 400 }, (_, index) => 1000 + index),
          (fileId) => write(fileId, 64 * 1024),
          { concurrency: 16, discard: true }
        )
      )
      const plain = join(directory, "plain")
      const baseWrite = yield* Effect.promise(() => seconds(() => plainWrite(plain)))
      const baseRead = yield* Effect.promise(() => seconds(() => plainRead(plain)))
      const mebibytes = (chunkBytes * chunks) / mebibyte
      say({ what: "write, fsync", value: mebibytes / written, unit: "MiB/s" })
      say({ what: "  a plain file written", value: mebibytes / baseWrite, unit: "MiB/s" })
      say({ what: "  write against the plain file", value: baseWrite / written, unit: "times" })
      say({ what: "read, verified", value: mebibytes / read, unit: "MiB/s" })
      say({ what: "  a plain file read", value: mebibytes / baseRead, unit: "MiB/s" })
      say({ what: "  read against the plain file", value: baseRead / read, unit: "times" })
      say({ what: "small copies of 64 KiB, fsync", value: 400 / small, unit: "a second" })
    }).pipe(Effect.scoped, Effect.provide(layerChunkDevices))
  )
  await rm(directory, { recursive: true })
}

await bench()
