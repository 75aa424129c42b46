import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { crc32 } from "node:zlib"
import { assert, describe, it } from "@effect/vitest"
import { layerChunkDevices } from "@holdfast/adapter-file"
import { layerChunkEndpoint, layerChunkTransport } from "@holdfast/adapter-http"
import { MemoryNetwork } from "@holdfast/adapter-memory"
import { ChunkDevices, ChunkTransport } from "@holdfast/storage"
import { DeviceId, HostId, ringOfOne } from "@holdfast/wire"
import { Effect, Layer, Option, Stream } from "effect"
import { startChunkServer } from "./index.ts"
import {
  chunkNamed,
  clusterId,
  eventually,
  mac,
  patterned,
  quickSettings,
  summary,
  target
} from "./testing/cluster-fixture.ts"
import { startMetadata } from "./testing/metadata-double.ts"

const chunk = chunkNamed(7)
const bytes = patterned(3_000_000)

const temporary = Effect.acquireRelease(
  Effect.promise(() => mkdtemp(join(tmpdir(), "holdfast-server-"))),
  (directory) => Effect.promise(() => rm(directory, { recursive: true }))
)

const ports = Layer.mergeAll(layerChunkDevices, layerChunkEndpoint, layerChunkTransport)

const startServer = Effect.fnUntraced(function* (
  network: MemoryNetwork,
  name: string,
  directory: string
) {
  const context = yield* Layer.build(
    Layer.merge(Layer.fresh(ports), MemoryNetwork.layer(network, name))
  )
  const server = yield* startChunkServer({
    clusterId,
    hostId: HostId.make(name),
    incarnation: 1,
    ring: ringOfOne(mac),
    listen: { host: "127.0.0.1", port: 0 },
    devices: [{ directory, reservedBytes: 0, capacityBytes: Option.none() }],
    settings: quickSettings
  }).pipe(Effect.provide(context))
  return { name, server }
})

describe("chunk servers on plain files and HTTP", () => {
  it.live("write a chain, copy by command, read everywhere, restart and report", () =>
    Effect.gen(function* () {
      const root = yield* temporary
      const network = yield* MemoryNetwork.make()
      const metadata = yield* Layer.build(MemoryNetwork.layer(network, "metadata")).pipe(
        Effect.flatMap((context) => Effect.provide(startMetadata(clusterId), context))
      )
      const devices = yield* ChunkDevices
      const transport = yield* ChunkTransport
      for (const deviceId of ["d1", "d2", "d3"]) {
        yield* devices.format({ directory: join(root, deviceId), clusterId, deviceId })
      }
      yield* Effect.scoped(
        Effect.gen(function* () {
          const first = yield* startServer(network, "h1", join(root, "d1"))
          const second = yield* startServer(network, "h2", join(root, "d2"))
          const third = yield* startServer(network, "h3", join(root, "d3"))
          yield* eventually(() => metadata.reports.size === 3)
          const outcomes = yield* transport.write({
            chunk,
            length: bytes.length,
            targets: [target(first, "d1", chunk, "write"), target(second, "d2", chunk, "write")],
            data: Stream.make(bytes),
            deadline: "10 seconds"
          })
          assert.deepStrictEqual(summary(outcomes), ["d1 stored", "d2 stored"])
          metadata.commands.push({
            _tag: "Copy",
            commandId: "copy.1",
            deviceId: DeviceId.make("d3"),
            chunk: { ...chunk, length: bytes.length, checksum: crc32(bytes) },
            source: target(second, "d2", chunk, "read"),
            deadlineMs: 10_000
          })
          const told = () => metadata.heartbeats.flatMap((beat) => beat.outcomes)
          yield* eventually(() => told().length > 0)
          metadata.commands.splice(0)
          assert.strictEqual(told()[0]?.outcome._tag, "Done")
          for (const [at, deviceId] of [
            [first, "d1"],
            [second, "d2"],
            [third, "d3"]
          ] as const) {
            const pieces = yield* transport
              .read({
                chunk,
                source: target(at, deviceId, chunk, "read"),
                range: Option.some({ start: 65_000, end: 2_999_999 }),
                deadline: "10 seconds"
              })
              .pipe(Stream.runCollect)
            const read = new Uint8Array(Buffer.concat(pieces))
            assert.deepStrictEqual(read, bytes.slice(65_000, 2_999_999))
          }
        })
      )
      metadata.reports.clear()
      yield* startServer(network, "h1", join(root, "d1"))
      yield* eventually(() => metadata.reports.has("d1"))
      assert.deepInclude(metadata.reports.get("d1")?.[0], { ...chunk, length: bytes.length })
    }).pipe(Effect.provide(ports))
  )
})
