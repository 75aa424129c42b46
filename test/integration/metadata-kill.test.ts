/**
 * The metadata service under 64 writers, killed without warning again and again: no commit that was
 * answered is lost. `HOLDFAST_KILL_ROUNDS` says how often; three times if it is not set.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { NatsConnections, natsMessagingLayer } from "@holdfast/adapter-nats"
import type { Messaging } from "@holdfast/messaging"
import { macWith } from "@holdfast/process"
import type { ChunkDescription } from "@holdfast/storage"
import { MetadataOperations } from "@holdfast/wire"
import type { NatsConnection } from "@nats-io/transport-node"
import { Effect, Layer, ManagedRuntime, Redacted } from "effect"
import { afterAll, beforeAll, expect, it } from "vitest"
import {
  benchDevices,
  commitOne,
  connectTo,
  makeFile
} from "../../packages/services/metadata/src/testing/commit-writers.ts"
import { ask, makePuppet, ready } from "../../packages/services/metadata/src/testing/world.ts"
import { type NatsServer, startNatsServer } from "./nats-server.ts"
import { eventually, type Running, start } from "./process.ts"

const rounds = Number(process.env["HOLDFAST_KILL_ROUNDS"] ?? 3)
const writers = 64
const searchedTogether = 500
const reportedTogether = 2_000
const key = "ab".repeat(32)
const mac = macWith(Redacted.make(Buffer.from(key, "hex")))

const folder = mkdtempSync(join(tmpdir(), "holdfast-kill-"))
const puppets = benchDevices.map(makePuppet)
const answered: Array<ChunkDescription> = []
let server: NatsServer
let connection: NatsConnection
let service: Running | undefined
let refusal = "none was refused"
let runtime: ManagedRuntime.ManagedRuntime<Messaging, unknown>

const launch = async (): Promise<void> => {
  const times = { "safe-mode-extension": 0, "stale-after": 600_000, "dead-after": 900_000 }
  service = start([
    "metadata",
    "--cluster",
    "test",
    "--nats",
    server.url,
    "--key-file",
    join(folder, "key"),
    "--data",
    join(folder, "data"),
    ...Object.entries(times).flatMap(([name, millis]) => [`--${name}-ms`, `${millis}`])
  ])
  await service.said("is ready", 60_000)
  await runtime.runPromise(
    Effect.gen(function* () {
      for (const puppet of puppets) yield* puppet.join(reportedTogether)
      yield* ready
    })
  )
}

/** Commits until the service is gone; what was answered is noted. */
const writeUntilItDies = async (fileId: number): Promise<void> => {
  const onStored = (deviceId: string, chunk: ChunkDescription) => {
    const puppet = puppets.find((one) => one.deviceId === deviceId)
    puppet?.copies.set(`${chunk.fileId}/${chunk.chunkId}@${chunk.version}`, chunk)
  }
  const killed = service
  const gone = new AbortController()
  void killed?.exited.then(() => {
    gone.abort()
  })
  while (!gone.signal.aborted) {
    const committing = commitOne({ connection, fileId, mac, onStored })
    await committing.then(
      (chunk) => answered.push(chunk),
      (error: unknown) => {
        refusal = `the latest refusal: ${String(error)}`
        return sleep(100)
      }
    )
  }
}

const lost = async (): Promise<ReadonlyArray<ChunkDescription>> => {
  const missing: Array<ChunkDescription> = []
  for (let from = 0; from < answered.length;) {
    const asked = answered.slice(from, from + searchedTogether)
    const chunks = asked.map(({ chunkId, fileId }) => ({ fileId, chunkId }))
    const { results } = await runtime.runPromise(ask(MetadataOperations.search, { chunks }))
    // As many as fit one message were answered.
    from += results.length
    results.forEach((result, index) => {
      const chunk = asked[index]
      if (chunk === undefined) return
      const isThere = result._tag === "Found" && result.location.chunk.version === chunk.version
      if (!isThere) missing.push(chunk)
    })
  }
  return missing
}

beforeAll(async () => {
  server = await startNatsServer()
  writeFileSync(join(folder, "key"), `${key}\n`, { mode: 0o600 })
  connection = await connectTo(server.url)
  const nats = NatsConnections.layer({ servers: [server.url], name: "test" })
  runtime = ManagedRuntime.make(Layer.provide(natsMessagingLayer(), nats))
  await launch()
}, 120_000)

afterAll(async () => {
  service?.kill("SIGKILL")
  await service?.exited
  await runtime?.dispose()
  await connection?.close()
  await server?.stop()
  rmSync(folder, { recursive: true, force: true })
})

it(
  `loses no answered commit in ${rounds} rounds of kill -9 under ${writers} writers`,
  async () => {
    for (let round = 1; round <= rounds; round++) {
      const before = answered.length
      const fileId = await makeFile(connection)
      const writing = Array.from({ length: writers }, () => writeUntilItDies(fileId))
      const isWriting = async () => (answered.length > before + writers ? true : undefined)
      await eventually(`commits of round ${round}`, isWriting, 60_000).catch((cause: unknown) => {
        throw new Error(refusal, { cause })
      })
      await sleep((round * 379) % 900)
      service?.kill("SIGKILL")
      await service?.exited
      await Promise.all(writing)
      await launch()
      expect(await lost(), `lost in round ${round}, of ${answered.length}`).toEqual([])
    }
  },
  120_000 * rounds
)
