/**
 * The main job over real NATS: every service a process of its own, a stream archived while it is
 * published, one process of each kind killed and started again, everything read back exactly once.
 */
import { createHash } from "node:crypto"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { jetstream, jetstreamManager } from "@nats-io/jetstream"
import { connect, headers, type NatsConnection } from "@nats-io/transport-node"
import { afterAll, beforeAll, expect, it } from "vitest"
import { type NatsServer, startNatsServer } from "./nats-server.ts"
import { eventually, holdfast, type Running, start } from "./process.ts"

const messages = 50_000
const window = 256
const subjects = ["orders.eu", "orders.us", "returns.eu", "audit"]
const kinds = ["new", "paid", "sent"]

const folder = mkdtempSync(join(tmpdir(), "holdfast-cluster-"))
const keyFile = join(folder, "key")
const running = new Map<string, { readonly args: ReadonlyArray<string>; process: Running }>()
let server: NatsServer
let connection: NatsConnection

const common = (): ReadonlyArray<string> => ["--cluster", "test", "--nats", server.url]

const launch = async (name: string, args: ReadonlyArray<string>): Promise<void> => {
  const process = start(args)
  running.set(name, { args, process })
  await process.said("is ready", 120_000)
}

const killAndRestart = async (name: string): Promise<void> => {
  const one = running.get(name)
  if (one === undefined) throw new Error(`${name} does not run`)
  one.process.kill("SIGKILL")
  await one.process.exited
  await launch(name, one.args)
}

/** The same message for the same number: what was published can be said again at the end. */
const messageOf = (index: number) => ({
  subject: subjects[index % subjects.length] ?? "",
  headers: [
    ["Kind", kinds[index % kinds.length] ?? ""],
    ["Trace", `t-${index}`],
    ["Trace", `second-${index}`]
  ] as const,
  data: JSON.stringify({ index, region: index % 7, text: "x".repeat(index % 180) })
})

const publishAll = async (onEach: (index: number) => void): Promise<void> => {
  const stream = jetstream(connection)
  const pending = new Set<Promise<void>>()
  for (let index = 0; index < messages; index++) {
    const { data, headers: pairs, subject } = messageOf(index)
    const block = headers()
    for (const [name, value] of pairs) block.append(name, value)
    const sent: Promise<void> = stream
      .publish(subject, data, { headers: block, msgID: `m-${index}` })
      .then(() => {
        pending.delete(sent)
      })
    pending.add(sent)
    if (pending.size >= window) await Promise.race(pending)
    onEach(index)
  }
  await Promise.all(pending)
}

/** What every process has said so far: the story behind a failure. */
const stories = (): string =>
  [...running]
    .map(([name, { process }]) => `${name}:\n${process.stderr().slice(-1_500)}`)
    .join("\n")

const json = async (args: ReadonlyArray<string>): Promise<unknown> => {
  const { status, stderr, stdout } = await holdfast([...args, ...common(), "--json"])
  if (status !== 0) throw new Error(`${args.join(" ")}: ${stderr}`)
  return JSON.parse(stdout)
}

beforeAll(async () => {
  server = await startNatsServer()
  connection = await connect({ servers: server.url })
  const manager = await jetstreamManager(connection)
  await manager.streams.add({ name: "EVENTS", subjects: ["orders.*", "returns.*", "audit"] })
  writeFileSync(keyFile, `${"ab".repeat(32)}\n`, { mode: 0o600 })
  mkdirSync(join(folder, "devices"))
  const peers = ["p1", "p2", "p3"]
  const key = ["--key-file", keyFile]
  await launch("metadata", [
    "metadata",
    ...common(),
    ...key,
    "--data",
    join(folder, "metadata"),
    "--safe-mode-extension-ms",
    "0",
    "--repair-delay-ms",
    "0",
    "--stale-after-ms",
    "4000",
    "--dead-after-ms",
    "8000",
    "--free-mib",
    "16"
  ])
  await Promise.all(
    [1, 2, 3, 4].map((number) =>
      launch(`host-${number}`, [
        "chunk-server",
        ...common(),
        ...key,
        "--id",
        `h${number}`,
        "--format",
        "--data",
        join(folder, "hosts", `h${number}`),
        "--reserved-mib",
        "16",
        "--device",
        join(folder, "devices", `d${number}`)
      ])
    )
  )
  await Promise.all(
    peers.map((id) =>
      launch(id, [
        "peer",
        ...common(),
        "--id",
        id,
        "--peers",
        peers.join(","),
        "--data",
        join(folder, "peers", id)
      ])
    )
  )
  await Promise.all(
    ["w1", "w2"].map((id) =>
      launch(id, [
        "worker",
        ...common(),
        "--id",
        id,
        "--lease-term-ms",
        "5000",
        "--checkpoint-interval-ms",
        "500",
        "--discovery-interval-ms",
        "500"
      ])
    )
  )
}, 300_000)

afterAll(async () => {
  for (const { process } of running.values()) process.kill("SIGKILL")
  await Promise.all([...running.values()].map(({ process }) => process.exited))
  await connection?.close()
  await server?.stop()
  rmSync(folder, { recursive: true, force: true })
})

it("archives a stream through the death of one process of each kind, exactly once", async () => {
  await json([
    "archive",
    "add",
    "EVENTS",
    "--segment-bytes",
    "262144",
    "--segment-age-ms",
    "1000",
    "--tag",
    "kind=header:Kind",
    "--tag",
    "region=json:region,number"
  ])
  const deaths = ["host-1", "metadata", "p1", "w1", "w2"]
  const turns: Array<Promise<void>> = []
  await publishAll((index) => {
    if (index % 8_000 !== 4_000) return
    const name = deaths.shift()
    if (name !== undefined) turns.push(killAndRestart(name))
  })
  await Promise.all(turns)
  expect(deaths).toEqual([])

  await eventually(
    "the last record is checkpointed",
    async () => {
      const status = (await json(["status"])) as StatusView
      const shards = status.workers.flatMap((worker) => worker.shards)
      return shards.some(({ checkpoint }) => checkpoint === String(messages)) ? true : undefined
    },
    240_000
  ).catch(async (cause: unknown) => {
    throw new Error(`${JSON.stringify(await json(["status"]))}\n${stories()}`, { cause })
  })

  const read = await holdfast(["read", "EVENTS", ...common()], { limitMs: 120_000 })
  expect(read.stderr).toBe("")
  const lines = read.stdout.trimEnd().split("\n")
  expect(lines.length).toBe(messages)
  const seen = new Set<number>()
  let previous = 0n
  for (const line of lines) {
    const record = JSON.parse(line) as RecordView
    const { index } = JSON.parse(record.data) as { readonly index: number }
    const wanted = messageOf(index)
    expect(BigInt(record.position)).toBeGreaterThan(previous)
    previous = BigInt(record.position)
    expect(seen.has(index)).toBe(false)
    seen.add(index)
    if (
      record.subject !== wanted.subject ||
      record.data !== wanted.data ||
      !hasHeaders(record.headers, wanted.headers)
    ) {
      throw new Error(`message ${index} came back as ${line}`)
    }
  }
  expect(seen.size).toBe(messages)

  const scan = (holds: (index: number) => boolean): number =>
    Array.from({ length: messages }, (_, index) => index).filter(holds).length
  expect(await json(["search", "EVENTS", "--tag", "kind=paid", "--count"])).toEqual({
    count: scan((index) => kinds[index % kinds.length] === "paid")
  })
  expect(await json(["search", "EVENTS", "--tag", "region=3", "--count"])).toEqual({
    count: scan((index) => index % 7 === 3)
  })

  const verified = (await eventually(
    "every chunk is at its goal again",
    async () => {
      const status = (await json(["status"])) as StatusView
      return status.metadata.chunks.belowGoal === 0 ? status : undefined
    },
    90_000
  )) as StatusView
  expect(verified.metadata.chunks.missing).toBe(0)
  const report = (await json(["verify", "EVENTS", "--repair"])) as { readonly sound: boolean }
  expect(report.sound).toBe(true)
}, 700_000)

it("stops cleanly on SIGTERM, each kind", async () => {
  for (const name of ["w1", "p2", "host-2", "metadata"]) {
    const one = running.get(name)
    one?.process.kill("SIGTERM")
    expect(await one?.process.exited, name).toBe(143)
    expect(one?.process.stderr(), name).not.toMatch(/defect|at .*\.ts:\d+/)
  }
}, 60_000)

const hasHeaders = (
  found: RecordView["headers"],
  wanted: ReadonlyArray<readonly [string, string]>
): boolean => digestOf(found.filter(([name]) => name !== "Nats-Msg-Id")) === digestOf(wanted)

const digestOf = (pairs: ReadonlyArray<readonly [string, string]>): string =>
  createHash("sha256").update(JSON.stringify(pairs)).digest("hex")

interface RecordView {
  readonly position: string
  readonly subject: string
  readonly headers: ReadonlyArray<readonly [string, string]>
  readonly data: string
}

interface StatusView {
  readonly metadata: { readonly chunks: { readonly belowGoal: number; readonly missing: number } }
  readonly workers: ReadonlyArray<{
    readonly shards: ReadonlyArray<{ readonly checkpoint?: string }>
  }>
}
