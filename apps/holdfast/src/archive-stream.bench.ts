/**
 * How fast a cluster archives a JetStream stream (goal 2, zstd, fsynced, 256-byte records), against
 * a bare consumer of the same client that reads it in the same run. Each service is a process of
 * its own, as they are run for real.
 *
 *     node --conditions=@holdfast/source apps/holdfast/src/archive-stream.bench.ts
 */
import { natsMessagingLayer, NatsConnections } from "@holdfast/adapter-nats"
import { figuresOf } from "@holdfast/suites/figures"
import { makeCaller, makeRequestId, WorkerOperations } from "@holdfast/wire"
import { Effect, Layer } from "effect"
import { execFile, spawn } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import {
  fullStream,
  readBare,
  recordCount,
  stream
} from "../../../packages/adapters/nats/src/testing/bench-stream.ts"

const say = figuresOf("archive a stream")
const program = fileURLToPath(new URL("main.ts", import.meta.url))
const nodeArguments = ["--conditions=@holdfast/source", program]
const addArchive = ["archive", "add", stream, "--goal", "2", "--segment-age-ms", "300"]
const limitMs = 180_000
const askWorker = makeCaller(WorkerOperations.workerStatus)

/** The processes of a small cluster, in the order in which they are started. */
const commandsOf = (folder: string): ReadonlyArray<ReadonlyArray<string>> => {
  const data = (id: string) => ["--data", join(folder, id)]
  const key = ["--key-file", join(folder, "key")]
  const hosts = ["h1", "h2"].map((id) => {
    const device = ["--device", join(folder, `${id}-device`), "--format", "--reserved-mib", "16"]
    return ["chunk-server", ...key, ...data(id), "--id", id, ...device]
  })
  return [
    ["metadata", ...key, ...data("m1"), "--safe-mode-extension-ms", "0", "--free-mib", "16"],
    ...hosts,
    ["peer", ...data("p1"), "--id", "p1", "--peers", "p1"],
    ["worker", "--id", "w1", "--discovery-interval-ms", "300"]
  ]
}

/** Starts a process and waits until it says that it is ready. */
const startProcess = (command: ReadonlyArray<string>) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const running = spawn(process.execPath, [...nodeArguments, ...command], {
        stdio: ["ignore", "ignore", "pipe"]
      })
      await new Promise<void>((resolve) => {
        running.stderr.on("data", (said: Buffer) => {
          if (said.includes("is ready")) resolve()
        })
      })
      return running
    }),
    (running) =>
      Effect.promise(async () => {
        const exited = new Promise((resolve) => running.once("exit", resolve))
        running.kill("SIGKILL")
        await exited
      })
  )

/** Starts the cluster; answers its worker, which is started last. */
const startCluster = Effect.fnUntraced(function* (url: string, folder: string) {
  writeFileSync(join(folder, "key"), `${"ab".repeat(32)}\n`, { mode: 0o600 })
  const processes = yield* Effect.forEach(commandsOf(folder), (command) =>
    startProcess([...command, "--nats", url])
  )
  return processes.at(-1)
})

/** How far the shard is: what was read, and what is archived. */
const progressOf = Effect.gen(function* () {
  const { response } = yield* askWorker({
    cluster: "holdfast",
    request: {},
    requestId: yield* makeRequestId,
    deadline: 5_000
  })
  const shard = response.shards.find((one) => one.shard === stream)
  return { read: Number(shard?.read ?? 0n), archived: Number(shard?.checkpoint ?? 0n) }
})

/** Resident memory of a process, in MiB; 0 where the system does not tell. */
const residentMiB = (pid: number | undefined): number => {
  const status = readFileSync(`/proc/${pid}/status`, "utf8")
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1_024
}

/** Polls until all is archived; the clock runs from the first records that are read. */
const archiving = Effect.fnUntraced(function* (pid: number | undefined) {
  const until = performance.now() + limitMs
  let first: { readonly at: number; readonly count: number; readonly memory: number } | undefined
  for (;;) {
    // A worker that has just started may not answer yet.
    const { archived, read } = yield* Effect.orElseSucceed(progressOf, () => ({
      read: 0,
      archived: 0
    }))
    const at = performance.now()
    if (read > 0) first ??= { at, count: read, memory: residentMiB(pid) }
    if (first !== undefined && archived >= recordCount) {
      const rate = (archived - first.count) / ((at - first.at) / 1_000)
      return { rate, grown: residentMiB(pid) / first.memory }
    }
    if (at > until) throw new Error(`${archived} of ${recordCount} records were archived in time`)
    yield* Effect.sleep(50)
  }
})

const main = Effect.gen(function* () {
  const { connection, url } = yield* fullStream
  const bare = yield* readBare(connection, { _tag: "None" })
  const data = mkdtempSync(join(tmpdir(), "holdfast-archive-"))
  yield* Effect.addFinalizer(() =>
    Effect.sync(() => rmSync(data, { recursive: true, force: true }))
  )
  const worker = yield* startCluster(url, data)
  yield* Effect.promise(() =>
    promisify(execFile)(process.execPath, [...nodeArguments, ...addArchive, "--nats", url])
  )
  const messaging = natsMessagingLayer().pipe(
    Layer.provide(NatsConnections.layer({ servers: [url], name: "bench" }))
  )
  const { grown, rate } = yield* Effect.provide(archiving(worker?.pid), messaging)
  say({ what: "bare consumer", value: bare, unit: "records a second" })
  say({ what: "archived", value: rate, unit: "records a second" })
  say({
    what: "  against the bare consumer",
    value: rate / bare,
    unit: "times",
    bar: { atLeast: 0.5 }
  })
  say({
    what: "  resident memory of the worker at the end, against the beginning",
    value: grown,
    unit: "times"
  })
})

await Effect.runPromise(Effect.scoped(main))
