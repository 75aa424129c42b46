/**
 * Durable commits through NATS on one machine: the server, the service and 64 writers are processes
 * of their own. A commit is one `alloc` of two devices and one `publish`, so two round trips.
 * Beside it: bare round trips over the same server, and the processor time that each side takes,
 * which says more than a rate where other work runs on the machine.
 *
 *   node --conditions=@holdfast/source packages/services/metadata/src/commits.bench.ts [seconds]
 */
import { spawn, type ChildProcess } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { fileJournal } from "@holdfast/adapter-file"
import { NatsConnections, natsMessagingLayer } from "@holdfast/adapter-nats"
import { figuresOf } from "@holdfast/suites/figures"
import { ringOfOne } from "@holdfast/wire"
import { macWith } from "../../../process/src/cluster-key.ts"
import { Effect, Layer, Redacted } from "effect"
import { startNatsServer } from "../../../adapters/nats/src/testing/nats-server.ts"
import { startMetadataService } from "./index.ts"
import {
  benchDevices,
  commitOne,
  connectTo,
  makeFile,
  runWriters
} from "./testing/commit-writers.ts"
import { mac, makePuppet, quickOptions, ready } from "./testing/world.ts"

const say = figuresOf("metadata commits")
const writers = 64
const [mode = "main", url = "", directory = ""] = process.argv.slice(2)
const seconds = Number(mode) > 0 ? Number(mode) : 5

const messaging = (name: string) =>
  natsMessagingLayer().pipe(
    Layer.provide(NatsConnections.layer({ servers: [url], name })),
    Layer.orDie
  )
/** Tells the parent process. */
const tell = (line: string) => process.stdout.write(`${line}\n`)

/** The metadata service, until it is killed. */
const serve = Effect.gen(function* () {
  const ports = yield* Layer.build(
    Layer.merge(messaging("metadata"), Layer.orDie(fileJournal({ directory })))
  )
  yield* startMetadataService({
    ...quickOptions,
    ring: ringOfOne(macWith(Redacted.make(Buffer.from("key")))),
    map: { ...quickOptions.map, staleAfterMs: 1e9, deadAfterMs: 1e9, safeModeThreshold: 0 },
    service: { tickMs: 200, invariantsMs: 1e9 }
  }).pipe(Effect.provideContext(ports))
  tell("up")
  process.once("SIGTERM", () => process.exit(0))
  yield* Effect.never
}).pipe(Effect.scoped)

/** A responder that does nothing, until it is killed. */
const echo = async () => {
  const connection = await connectTo(url)
  connection.subscribe("echo", {
    callback: (_error, message) => {
      message.respond(message.data)
    }
  })
  await connection.flush()
  tell("up")
}

const writeFor = async () => {
  const puppets = benchDevices.map(makePuppet)
  await Effect.runPromise(
    Effect.gen(function* () {
      for (const puppet of puppets) yield* puppet.join()
      yield* ready
    }).pipe(Effect.provide(messaging("puppets")))
  )
  const connection = await connectTo(url)
  const fileId = await makeFile(connection)
  const step = () => commitOne({ connection, fileId, mac })
  await runWriters({ writers, step, milliseconds: 1_500 })
  tell("warm")
  await new Promise((resolve) => process.stdin.once("data", resolve))
  const used = process.cpuUsage()
  const run = await runWriters({ writers, step, milliseconds: Number(directory) })
  const { user, system } = process.cpuUsage(used)
  const at = (part: number) => run.waits[Math.floor(run.waits.length * part)] ?? 0
  tell(
    JSON.stringify({ ...run, waits: undefined, cpu: user + system, p50: at(0.5), p99: at(0.99) })
  )
  process.exit(0)
}

interface Child {
  readonly process: ChildProcess
  readonly next: () => Promise<string>
}

const start = (args: ReadonlyArray<string>): Child => {
  const flags = process.execArgv
  const profile = process.env["HOLDFAST_PROFILE"]
  const profiling = profile !== undefined && args[0] === profile ? ["--cpu-prof"] : []
  const child = spawn(
    process.execPath,
    [...flags, ...profiling, fileURLToPath(import.meta.url), ...args],
    {
      stdio: ["pipe", "pipe", "inherit"],
      env: { ...process.env, HOLDFAST_BENCH_ROWS: undefined }
    }
  )
  process.once("exit", () => child.kill("SIGKILL"))
  const lines: Array<string> = []
  const waiting: Array<(line: string) => void> = []
  let rest = ""
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    const parts = (rest + text).split("\n")
    rest = parts.pop() ?? ""
    for (const line of parts) {
      const take = waiting.shift()
      if (take === undefined) lines.push(line)
      else take(line)
    }
  })
  const next = () =>
    new Promise<string>((resolve, reject) => {
      const line = lines.shift()
      if (line !== undefined) return resolve(line)
      waiting.push(resolve)
      child.once("exit", (code) => reject(new Error(`${args[0]} ended with ${code}`)))
    })
  return { process: child, next }
}

/** Microseconds of processor time that a process has used, by the system's 10 ms ticks. */
const usedBy = (pid: number | undefined): number => {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? []
  return (Number(fields[11]) + Number(fields[12])) * 10_000
}

interface Figures {
  readonly rate: number
  readonly count: number
  readonly cpu: number
  readonly p50: number
  readonly p99: number
}

const main = async () => {
  const server = await startNatsServer()
  const folder = mkdtempSync(join(tmpdir(), "holdfast-commits-"))
  const bare = start(["echo", server.url])
  await bare.next()
  const bareBefore = usedBy(bare.process.pid)
  const connection = await connectTo(server.url)
  const echoed = await runWriters({
    writers,
    step: () => connection.request("echo", "x".repeat(500), { timeout: 10_000 }),
    milliseconds: 2_000
  })
  say({ what: "bare round trips over NATS, 64 in flight", value: echoed.rate, unit: "a second" })
  const bareUse = (usedBy(bare.process.pid) - bareBefore) / echoed.count
  say({ what: "bare round trip, its responder", value: bareUse, unit: "µs of CPU" })
  await connection.close()
  bare.process.kill("SIGKILL")
  const service = start(["serve", server.url, join(folder, "journal")])
  await service.next()
  const writing = start(["write", server.url, String(seconds * 1_000)])
  await writing.next()
  const [before, serverBefore] = [usedBy(service.process.pid), usedBy(server.pid())]
  writing.process.stdin?.write("go\n")
  const said: Figures = JSON.parse(await writing.next())
  const perCommit = (used: number) => used / said.count
  const serviceUse = perCommit(usedBy(service.process.pid) - before)
  const serverUse = perCommit(usedBy(server.pid()) - serverBefore)
  const ceiling = (2 * said.rate) / echoed.rate
  say({
    what: "commits through NATS, 64 in flight",
    value: said.rate,
    unit: "a second",
    bar: { atLeast: 10_000 }
  })
  say({ what: "  their round trips against the bare ones", value: ceiling, unit: "times" })
  say({ what: "commit, the service", value: serviceUse, unit: "µs of CPU" })
  say({ what: "commit, the NATS server", value: serverUse, unit: "µs of CPU" })
  say({ what: "commit, the writers", value: perCommit(said.cpu), unit: "µs of CPU" })
  say({ what: "commit, wait, median", value: said.p50, unit: "ms" })
  say({ what: "commit, wait, p99", value: said.p99, unit: "ms" })
  service.process.kill("SIGTERM")
  await new Promise((resolve) => service.process.once("exit", resolve))
  await server.stop()
  rmSync(folder, { recursive: true, force: true })
}

if (mode === "serve") await Effect.runPromise(serve)
else if (mode === "echo") await echo()
else if (mode === "write") await writeFor()
else await main()
