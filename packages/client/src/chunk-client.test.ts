import { MemoryNetwork } from "@holdfast/adapter-memory"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Result } from "effect"
import { ChunkClient, clientLayer, crc32, MetadataClient } from "./index.ts"
import {
  type FakeCluster,
  fakeClusterLayer,
  makeFakeCluster,
  spoilDevice
} from "./testing/fake-cluster.ts"

const bytes = Uint8Array.from({ length: 100_000 }, (_, at) => (at * 7) & 255)
const checksum = crc32(bytes)

/** Runs a program against a cluster. */
const withCluster = <A, E>(
  cluster: FakeCluster,
  program: Effect.Effect<A, E, ChunkClient | MetadataClient>
) =>
  Effect.gen(function* () {
    const network = yield* MemoryNetwork.make({ maxPayloadBytes: 1_048_576 })
    const services = fakeClusterLayer(cluster).pipe(
      Layer.provide(MemoryNetwork.layer(network, "services"))
    )
    const client = clientLayer({ cluster: cluster.name, hedgeAfter: "20 millis" }).pipe(
      Layer.provide(MemoryNetwork.layer(network, "client")),
      Layer.provide(services)
    )
    return yield* program.pipe(Effect.provide(client))
  }).pipe(Effect.scoped)

const writeOne = Effect.gen(function* () {
  const metadata = yield* MetadataClient
  const chunks = yield* ChunkClient
  const fileId = yield* metadata.createFile()
  return yield* chunks.write({ fileId, bytes, checksum, want: 2, min: 2 })
})

describe("writing a chunk", () => {
  it.live("puts it on as many devices as wanted, through services that are busy at first", () => {
    const cluster = makeFakeCluster(3)
    cluster.failNext.set("alloc", 2).set("publish", 1)
    return withCluster(
      cluster,
      Effect.gen(function* () {
        const { chunk, copies } = yield* writeOne
        assert.strictEqual(copies, 2)
        assert.deepStrictEqual(cluster.chunks[0]?.holders, ["d1", "d2"])
        assert.strictEqual(chunk.length, bytes.length)
      })
    )
  })

  it.live("goes to other devices when one does not take it", () => {
    const cluster = makeFakeCluster(3)
    const [first] = cluster.devices
    if (first !== undefined) first.isDown = true
    return withCluster(
      cluster,
      Effect.gen(function* () {
        yield* writeOne
        assert.deepStrictEqual(cluster.chunks[0]?.holders, ["d2", "d3"])
        assert.isTrue(cluster.calls.includes("abandon"))
      })
    )
  })

  it.live("does without the device that failed, not without those behind it in the chain", () => {
    const cluster = makeFakeCluster(3)
    cluster.isChain = true
    const [first] = cluster.devices
    if (first !== undefined) first.isDown = true
    return withCluster(
      cluster,
      Effect.gen(function* () {
        yield* writeOne
        assert.deepStrictEqual(cluster.chunks[0]?.holders, ["d2", "d3"])
        assert.strictEqual(cluster.calls.filter((call) => call === "alloc").length, 2)
      })
    )
  })

  it.live("is a typed failure that names the devices when too few take it", () => {
    const cluster = makeFakeCluster(2)
    for (const device of cluster.devices) device.isDown = true
    return withCluster(
      cluster,
      Effect.gen(function* () {
        const written = yield* Effect.result(writeOne)
        if (Result.isSuccess(written)) return assert.fail("nothing can be written")
        assert.include(written.failure.message, "unreachable")
        assert.strictEqual(cluster.chunks.length, 0)
        // What it excludes itself does not come back by waiting: each attempt asks once.
        assert.strictEqual(cluster.calls.filter((call) => call === "alloc").length, 8)
      })
    )
  })
})

describe("reading a chunk", () => {
  const readBack = (plan: (cluster: FakeCluster) => void) => {
    const cluster = makeFakeCluster(2)
    return withCluster(
      cluster,
      Effect.gen(function* () {
        const chunks = yield* ChunkClient
        const { chunk } = yield* writeOne
        plan(cluster)
        return { read: yield* Effect.result(chunks.read({ chunk })), chunk, chunks, cluster }
      })
    )
  }
  const isIntact = (read: Result.Result<Uint8Array, unknown>) =>
    Result.isSuccess(read) && Buffer.compare(read.success, bytes) === 0

  it.live("asks the next holder when one is away", () =>
    Effect.gen(function* () {
      const { read } = yield* readBack(({ devices: [first] }) => {
        if (first !== undefined) first.isDown = true
      })
      assert.isTrue(isIntact(read))
    })
  )

  it.live("metadata-I5: never serves a copy whose checksum is wrong, and reports it", () =>
    Effect.gen(function* () {
      const { cluster, read } = yield* readBack((made) => spoilDevice(made, "d1"))
      assert.isTrue(isIntact(read))
      assert.deepStrictEqual(cluster.reportedBad, ["d1"])
    })
  )

  it.live("asks the next holder as well when one is slow", () =>
    Effect.gen(function* () {
      const { read } = yield* readBack(({ devices: [first] }) => {
        if (first !== undefined) first.delayMs = 60_000
      })
      assert.isTrue(isIntact(read))
    })
  )

  it.live("is a typed failure that names every holder when none has it right", () =>
    Effect.gen(function* () {
      const { read } = yield* readBack((made) => {
        spoilDevice(made, "d1")
        for (const device of made.devices) if (device.id === "d2") device.isDown = true
      })
      if (Result.isSuccess(read)) return assert.fail("no copy is right")
      assert.match(read.failure.message, /d1 sent bytes whose checksum is wrong/)
      assert.match(read.failure.message, /d2 unreachable/)
    })
  )

  it.live("costs the range that is asked for, of a holder that the caller accepts", () =>
    withCluster(
      makeFakeCluster(2),
      Effect.gen(function* () {
        const chunks = yield* ChunkClient
        const { chunk } = yield* writeOne
        const range = { start: 10, end: 1_000 }
        const part = yield* chunks.read({ chunk, range })
        assert.strictEqual(Buffer.compare(part, bytes.subarray(10, 1_000)), 0)
        const refused = yield* Effect.result(chunks.read({ chunk, range, accept: () => false }))
        assert.isTrue(Result.isFailure(refused))
      })
    )
  )

  it.live("does not take another version for the one wanted", () =>
    Effect.gen(function* () {
      const cluster = makeFakeCluster(2)
      const read = yield* withCluster(
        cluster,
        Effect.gen(function* () {
          const chunks = yield* ChunkClient
          const { chunk } = yield* writeOne
          return yield* Effect.result(chunks.read({ chunk: { ...chunk, version: 77 } }))
        })
      )
      assert.isTrue(Result.isFailure(read) && /took the place/.test(read.failure.message))
    })
  )
})
