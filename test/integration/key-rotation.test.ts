/**
 * A new key for a running cluster, on real processes: a metadata service and three chunk servers,
 * each with a key file of its own as on machines of their own, under writes and reads.
 */
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { layerChunkTransport } from "@holdfast/adapter-http"
import { NatsConnections, natsMessagingLayer } from "@holdfast/adapter-nats"
import { clientLayer, crc32, MetadataClient } from "@holdfast/client"
import { ChunkTransport, type ChunkTarget } from "@holdfast/storage"
import { Effect, Layer, ManagedRuntime, Option, Stream } from "effect"
import { afterAll, beforeAll, expect, it } from "vitest"
import { type NatsServer, startNatsServer } from "./nats-server.ts"
import { eventually, holdfast, type Running, start } from "./process.ts"

const limitMs = 120_000
const writers = 4
/** Longer than a process takes to notice its key file. */
const noticedMs = 2_500
const folder = mkdtempSync(join(tmpdir(), "holdfast-keys-"))
const hosts = ["h1", "h2", "h3"]
const places = ["metadata", ...hosts]
const keyFileOf = (place: string): string => join(folder, place, "key")
const running: Array<Running> = []
const payload = new Uint8Array(30_000).map((_, at) => (at * 7) & 255)
let server: NatsServer
let runtime: ManagedRuntime.ManagedRuntime<MetadataClient | ChunkTransport, unknown>

const launch = async (args: ReadonlyArray<string>): Promise<void> => {
  const process = start([...args, "--cluster", "test", "--nats", server.url])
  running.push(process)
  await process.said("is ready", limitMs)
}

/** Takes a step on one machine, as its operator would. */
const key = async (step: string, place: string): Promise<void> => {
  const { status, stderr } = await holdfast(["key", step, "--key-file", keyFileOf(place)])
  expect(status, stderr).toBe(0)
}

/** Takes a step on the first machine and carries its file to the others, one after the other. */
const onEveryHost = async (step: string): Promise<void> => {
  const [first = "", ...others] = places
  await key(step, first)
  for (const place of others) {
    await sleep(200)
    copyFileSync(keyFileOf(first), keyFileOf(place))
  }
  await sleep(noticedMs)
}

/** One chunk written, committed and read from each of its holders, without a second attempt. */
const writeAndRead = Effect.gen(function* () {
  const metadata = yield* MetadataClient
  const transport = yield* ChunkTransport
  const fileId = yield* metadata.createFile()
  const { chunk, lease, targets } = yield* metadata.alloc({
    fileId,
    size: payload.length,
    want: 2,
    min: 2,
    exclude: []
  })
  const outcomes = yield* transport.write({
    chunk,
    length: payload.length,
    targets,
    data: Stream.make(payload),
    deadline: "10 seconds"
  })
  const receipts = outcomes.flatMap((outcome) =>
    outcome._tag === "Stored" ? [outcome.receipt] : []
  )
  const refused = outcomes.flatMap((outcome) =>
    outcome._tag === "Refused" ? [`write: ${outcome.error.message}`] : []
  )
  const described = { ...chunk, length: payload.length, checksum: crc32(payload) }
  const { devices } = yield* metadata.publish({
    lease,
    chunk: described,
    goal: 2,
    min: 1,
    receipts
  })
  const uncounted = devices.flatMap(({ status }) => (status === "counted" ? [] : [status]))
  const { holders } = yield* metadata.locate(chunk)
  const reads = yield* Effect.forEach(holders, (source) => readFrom(chunk, source))
  return { chunk, holders, failures: [...refused, ...uncounted, ...reads.flat()] }
})

/** Reads a whole chunk from one holder; what went wrong in words, or nothing. */
const readFrom = (
  chunk: { readonly fileId: number; readonly chunkId: number; readonly version: number },
  source: ChunkTarget
) =>
  Effect.gen(function* () {
    const transport = yield* ChunkTransport
    const range = Option.none()
    const bytes = yield* Stream.mkUint8Array(
      transport.read({ chunk, source, range, deadline: "10 seconds" })
    )
    return Buffer.compare(bytes, payload) === 0 ? [] : ["read: other bytes"]
  }).pipe(Effect.catch(({ code, message }) => Effect.succeed([`read ${code}: ${message}`])))

beforeAll(async () => {
  server = await startNatsServer()
  for (const place of places) mkdirSync(join(folder, place))
  await key("create", "metadata")
  for (const host of hosts) copyFileSync(keyFileOf("metadata"), keyFileOf(host))
  const directories = (place: string) => [
    "--key-file",
    keyFileOf(place),
    "--data",
    join(folder, place, "data")
  ]
  const quick = ["--safe-mode-extension-ms", "0", "--free-mib", "1"]
  await launch(["metadata", ...directories("metadata"), ...quick])
  await Promise.all(
    hosts.map((host) =>
      launch([
        "chunk-server",
        ...directories(host),
        "--id",
        host,
        "--format",
        "--reserved-mib",
        "1",
        "--device",
        join(folder, host, `${host}-disk`)
      ])
    )
  )
  const nats = NatsConnections.layer({ servers: [server.url], name: "test" })
  runtime = ManagedRuntime.make(
    clientLayer({ cluster: "test" }).pipe(
      Layer.provideMerge(
        Layer.mergeAll(Layer.provide(natsMessagingLayer(), nats), layerChunkTransport)
      )
    )
  )
  await eventually(
    "devices take chunks",
    () => runtime.runPromise(Effect.option(writeAndRead)).then(Option.getOrUndefined),
    limitMs
  )
}, 240_000)

afterAll(async () => {
  await runtime?.dispose()
  for (const process of running) process.kill("SIGKILL")
  await Promise.all(running.map(({ exited }) => exited))
  await server?.stop()
  rmSync(folder, { recursive: true, force: true })
})

it("metadata-K1: a new key comes in and the old one goes without a request that fails", async () => {
  const before = readFileSync(keyFileOf("h1"), "utf8")
  const old = await runtime.runPromise(writeAndRead)
  const failures: Array<string> = []
  const over = new AbortController()
  let requests = 0
  const load = async (): Promise<void> => {
    while (!over.signal.aborted) {
      const done = await runtime.runPromise(
        Effect.catch(writeAndRead, ({ code, message }) =>
          Effect.succeed({ failures: [`${code}: ${message}`] })
        )
      )
      requests += 1
      failures.push(...done.failures)
    }
  }
  const loads = Array.from({ length: writers }, load)
  await onEveryHost("add")
  await onEveryHost("promote")
  const readOld = Effect.forEach(old.holders, (source) => readFrom(old.chunk, source))
  expect((await runtime.runPromise(readOld)).flat()).toEqual([])
  await onEveryHost("retire")
  over.abort()
  await Promise.all(loads)
  expect(failures).toEqual([])
  expect(requests).toBeGreaterThan(writers)
  const refused = (await runtime.runPromise(readOld)).flat()
  expect(refused).toHaveLength(old.holders.length)
  for (const reason of refused) expect(reason).toContain("read denied")
  const after = readFileSync(keyFileOf("h1"), "utf8")
  expect(after).not.toBe(before)
  expect(after.trim().split("\n")).toHaveLength(1)
  expect(statSync(keyFileOf("h1")).mode & 0o777).toBe(0o600)
  expect((await runtime.runPromise(writeAndRead)).failures).toEqual([])
}, 300_000)
