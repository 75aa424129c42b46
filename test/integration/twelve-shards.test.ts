/**
 * Four workers on twelve shards, while records are published: two of them are killed, one is
 * stopped, others join, the NATS server is killed and started again. It is done twice: by workers
 * that archive, and by workers of a pipeline of one's own.
 */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { NatsConnections, natsMessagingLayer } from "@holdfast/adapter-nats"
import { ArchiveClient, clientLayer } from "@holdfast/client"
import { layerChunkTransport } from "@holdfast/adapter-http"
import { jetstream, jetstreamManager } from "@nats-io/jetstream"
import { connect, type NatsConnection } from "@nats-io/transport-node"
import { Effect, Layer, Stream } from "effect"
import { afterAll, beforeAll, expect, it } from "vitest"
import { type ArchiveServices, startArchiveServices } from "./archive-services.ts"
import { eventually, root, type Running, start } from "./process.ts"
import { ownersOf, watchCheckpoints } from "./shard-watch.ts"

const shards = Array.from({ length: 12 }, (_, at) => `s${at}`)
const leaseTermMs = 3_000
const folder = mkdtempSync(join(tmpdir(), "holdfast-twelve-"))
let services: ArchiveServices
let connection: NatsConnection

/** Publishes to all shards in turn until it is stopped; answers what the server has taken. */
const publishLoad = (stream: string) => {
  const publisher = jetstream(connection)
  const published = new Map<string, Array<string>>(shards.map((shard) => [shard, []]))
  const stopping = new AbortController()
  const publishOne = async (at: number): Promise<void> => {
    const shard = shards[at % shards.length] ?? ""
    const text = `${stream} ${at}`
    // The id makes a publication that is tried again after a lost answer the same one.
    for (;;) {
      const answer = await publisher
        .publish(`${stream}.${shard}`, text, { msgID: text, timeout: 1_000 })
        .then(
          () => true,
          () => false
        )
      if (answer) break
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
    published.get(shard)?.push(text)
  }
  const running = (async () => {
    for (let at = 0; !stopping.signal.aborted; at += shards.length) {
      await Promise.all(shards.map((_, index) => publishOne(at + index)))
      await new Promise((resolve) => setTimeout(resolve, 25))
    }
  })()
  const stop = async (): Promise<ReadonlyMap<string, ReadonlyArray<string>>> => {
    stopping.abort()
    await running
    return published
  }
  return { stop }
}

/** Runs workers through everything that happens to them; answers what was published. */
const live = async (options: {
  readonly stream: string
  /** How the keys of its shards begin in the buckets. */
  readonly prefix: string
  readonly startWorker: (id: string) => Promise<Running>
}) => {
  const { prefix, startWorker, stream } = options
  const leases = { bucket: "holdfast-test-leases", prefix }
  const checkpoints = { bucket: "holdfast-test-checkpoints", prefix }
  const workers = new Map<string, Running>()
  const joinAll = async (...ids: ReadonlyArray<string>): Promise<void> => {
    await Promise.all(ids.map(async (id) => workers.set(id, await startWorker(id))))
  }
  const end = async (id: string, signal: "SIGKILL" | "SIGTERM"): Promise<void> => {
    const worker = workers.get(id)
    workers.delete(id)
    worker?.kill(signal)
    await worker?.exited
  }
  /** Waits until each worker that lives owns its share, and nobody else owns anything. */
  const balance = async (after: string): Promise<void> => {
    const began = performance.now()
    const share = shards.length / workers.size
    await eventually(
      `balance after ${after}`,
      async () => {
        const owned = await ownersOf(connection, leases)
        if (owned.size !== workers.size) return undefined
        const isEven = [...workers.keys()].every((id) => {
          const count = owned.get(id) ?? 0
          return count >= Math.floor(share) && count <= Math.ceil(share)
        })
        return isEven ? true : undefined
      },
      60_000
    )
    const terms = (performance.now() - began) / leaseTermMs
    console.log(`${stream}: balance after ${after} within ${terms.toFixed(1)} lease terms`)
  }

  const load = publishLoad(stream)
  await joinAll("w1", "w2", "w3", "w4")
  const watch = await watchCheckpoints(connection, checkpoints)
  await balance("the start of four")
  await Promise.all([end("w1", "SIGKILL"), end("w2", "SIGKILL")])
  await balance("the death of two")
  await Promise.all([end("w3", "SIGTERM"), joinAll("w5", "w6")])
  await balance("a graceful stop and two joining")
  await services.server.kill()
  await services.server.restart()
  await balance("a restart of the NATS server")
  const published = await load.stop()
  const { state } = await (await jetstreamManager(connection)).streams.info(stream)
  const newest = BigInt(state.last_seq)
  await eventually(
    "every shard is checkpointed to its end",
    async () => {
      const reached = [...watch.positions.values()]
      const isDone = reached.length === 12 && reached.every((at) => at > newest - 13n)
      return isDone ? true : undefined
    },
    60_000
  )
  expect(watch.stepsBack).toEqual([])
  await Promise.all([...workers.keys()].map((id) => end(id, "SIGTERM")))
  return published
}

const workerFlags = (id: string): ReadonlyArray<string> => [
  "worker",
  "--id",
  id,
  "--checkpoint-interval-ms",
  "200",
  "--discovery-interval-ms",
  "500",
  "--lease-term-ms",
  String(leaseTermMs)
]

/** Starts a worker; it is ready when it says so, and the server may be away for a moment then. */
const startWorker = async (id: string, more: ReadonlyArray<string>): Promise<Running> => {
  const worker = start([...workerFlags(id), ...services.common, ...more])
  services.adopt(worker)
  await worker.said("is ready", 60_000)
  return worker
}

const withArchives = <A>(use: (archives: ArchiveClient["Service"]) => Effect.Effect<A, unknown>) =>
  Effect.runPromise(
    Effect.flatMap(ArchiveClient, use).pipe(
      Effect.provide(
        clientLayer({ cluster: "test", sender: "test" }).pipe(
          Layer.provideMerge(Layer.mergeAll(natsMessagingLayer(), layerChunkTransport)),
          Layer.provideMerge(
            NatsConnections.layer({ servers: [services.server.url], name: "test" })
          )
        )
      )
    )
  )

beforeAll(async () => {
  services = await startArchiveServices("twelve-shards")
  connection = await connect({
    servers: services.server.url,
    maxReconnectAttempts: -1,
    reconnectTimeWait: 100
  })
  const manager = await jetstreamManager(connection)
  await manager.streams.add({ name: "ARCHIVED", subjects: ["ARCHIVED.*"] })
  await manager.streams.add({ name: "STAGED", subjects: ["STAGED.*"] })
}, 180_000)

afterAll(async () => {
  await connection.close()
  await services.stop()
  rmSync(folder, { recursive: true, force: true })
}, 60_000)

it("by a stage: every record's output at least once, checkpoints never backwards", async () => {
  const directory = join(folder, "lines")
  mkdirSync(directory)
  const pipeline = [
    "--pipeline",
    join(root, "examples", "lines-by-subject.ts"),
    "--options",
    JSON.stringify({ directory }),
    ...shards.flatMap((shard) => ["--stream", `STAGED=STAGED.${shard}`])
  ]
  const published = await live({
    stream: "STAGED",
    prefix: "lines",
    startWorker: (id) => startWorker(id, pipeline)
  })
  expect(readdirSync(directory)).toHaveLength(12)
  for (const [shard, texts] of published) {
    const lines = readFileSync(join(directory, `STAGED.${shard}.log`), "utf8")
      .trim()
      .split("\n")
    const seen = new Set(lines)
    expect(texts.filter((text) => !seen.has(text))).toEqual([])
    expect(seen.size).toBe(texts.length)
  }
}, 240_000)

it("by archives: every record exactly once, checkpoints never backwards", async () => {
  await withArchives((archives) =>
    Effect.forEach(shards, (name, at) =>
      archives.add({
        name,
        stream: "ARCHIVED",
        filter: `ARCHIVED.${name}`,
        // Both ways to read a stream are used side by side.
        acknowledgement: at % 3 === 0 ? "watermark" : "none",
        settings: { segments: { bytes: 1_000_000, records: 100_000, ageMs: 300 } }
      })
    )
  )
  const published = await live({
    stream: "ARCHIVED",
    prefix: "s",
    startWorker: (id) => startWorker(id, [])
  })
  const archived = await withArchives((archives) =>
    Effect.forEach(
      shards,
      (archive) =>
        Stream.runCollect(archives.read({ archive })).pipe(
          Effect.map((all) => all.map(({ record }) => new TextDecoder().decode(record.data))),
          Effect.map((texts) => [archive, texts] as const)
        ),
      { concurrency: 4 }
    )
  )
  for (const [shard, texts] of archived) expect(texts).toEqual(published.get(shard))
}, 240_000)
