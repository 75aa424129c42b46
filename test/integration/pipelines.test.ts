/**
 * Pipelines of one's own as modules: the example runs over a stream through a kill of its worker,
 * and what cannot be run is refused with one sentence.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { jetstream, jetstreamManager } from "@nats-io/jetstream"
import { connect, type NatsConnection } from "@nats-io/transport-node"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { type NatsServer, startNatsServer } from "./nats-server.ts"
import { eventually, holdfast, root, type Running, start } from "./process.ts"

const example = join(root, "examples", "lines-by-subject.ts")
const folder = mkdtempSync(join(tmpdir(), "holdfast-pipelines-"))
const directory = join(folder, "lines")
const running: Array<Running> = []
const subjects = ["orders.eu", "orders.us"]
let server: NatsServer
let connection: NatsConnection

const launch = async (id: string): Promise<Running> => {
  const options = ["--pipeline", example, "--options", JSON.stringify({ directory })]
  const times = ["--checkpoint-interval-ms", "200", "--lease-term-ms", "2000"]
  const who = ["--cluster", "test", "--nats", server.url, "--id", id]
  const child = start(["worker", ...who, ...options, ...times, "--stream", "ORDERS=orders.*"])
  running.push(child)
  await child.said("is ready", 60_000)
  return child
}

const order = async (...args: ReadonlyArray<string>) =>
  holdfast(["shards", ...args, "--cluster", "test", "--nats", server.url])

/** Pauses the shard, has it go on at its oldest record, and lets it go on. */
const orderAbout = async (shard: string): Promise<void> => {
  const early = await order("reset", shard, "--oldest")
  expect(early).toMatchObject({ status: 1, stdout: "" })
  expect(early.stderr).toContain("holdfast shards pause")
  expect(await order("pause", shard)).toMatchObject({ status: 0 })
  await eventually(
    "the shard is let go",
    async () => ((await order("reset", shard, "--oldest")).status === 0 ? true : undefined),
    60_000
  )
  expect(JSON.parse((await order("--json")).stdout)).toMatchObject([{ shard, state: "paused" }])
  const before = linesOf("orders.eu").length
  expect(await order("resume", shard)).toMatchObject({ status: 0 })
  await eventually(
    "everything comes again",
    async () => (linesOf("orders.eu").length >= before + 200 ? true : undefined),
    60_000
  )
  expect((await order("move", shard, "--to", "w2")).stderr).toContain("has the shard")
  expect((await order("pause", "nothing")).stderr).toContain("no worker has heard of")
}

const publish = async (from: number, to: number): Promise<void> => {
  const stream = jetstream(connection)
  for (let at = from; at <= to; at++) await stream.publish(subjects[at % 2] ?? "", `order ${at}`)
}

const linesOf = (subject: string): ReadonlyArray<string> => {
  try {
    return readFileSync(join(directory, `${subject}.log`), "utf8")
      .trim()
      .split("\n")
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return []
    throw error
  }
}

const awaitLines = (count: number): Promise<true> =>
  eventually(
    `${count} lines`,
    async () =>
      new Set(subjects.flatMap((subject) => linesOf(subject))).size >= count ? true : undefined,
    60_000
  )

beforeAll(async () => {
  mkdirSync(directory)
  server = await startNatsServer()
  connection = await connect({ servers: server.url })
  const manager = await jetstreamManager(connection)
  await manager.streams.add({ name: "ORDERS", subjects: ["orders.*", "audit"] })
}, 60_000)

afterAll(async () => {
  for (const one of running) one.kill("SIGKILL")
  await Promise.all(running.map((one) => one.exited))
  await connection.close()
  await server.stop()
  rmSync(folder, { recursive: true, force: true })
})

it("the example writes every record's line, in order, through a kill of its worker", async () => {
  await publish(1, 300)
  await jetstream(connection).publish("audit", "not for this group")
  const first = await launch("w1")
  await awaitLines(100)
  first.kill("SIGKILL")
  await first.exited
  await publish(301, 400)
  const second = await launch("w2")
  await awaitLines(400)
  for (const [index, subject] of subjects.entries()) {
    const seen = new Set<string>()
    const firsts = linesOf(subject).filter((line) => !seen.has(line) && seen.add(line))
    const wanted = Array.from({ length: 400 }, (_, at) => at + 1).filter((at) => at % 2 === index)
    expect(firsts).toEqual(wanted.map((at) => `order ${at}`))
  }
  const listed = await holdfast(["shards", "--cluster", "test", "--nats", server.url, "--json"])
  const shard = "lines:ORDERS=orders.*"
  expect(JSON.parse(listed.stdout)).toMatchObject([{ shard }])
  await orderAbout(shard)
  second.kill("SIGTERM")
  expect(await second.exited).toBe(143)
}, 180_000)

describe("a pipeline that cannot be run is refused with one sentence", () => {
  const checked = (): ReadonlyArray<string> => ["--id", "w1", "--nats", server.url, "--check"]
  const moduleOf = (name: string, text: string): string => {
    const path = join(folder, name)
    writeFileSync(path, text)
    return path
  }

  it.each([
    {
      name: "of no such file",
      args: () => ["--pipeline", "./nowhere.ts"],
      sentence: /there is no pipeline ".\/nowhere.ts"; right would be archive, projection, or/
    },
    {
      name: "that exports nothing",
      args: () => ["--pipeline", moduleOf("empty.ts", "export const pipeline = 1\n")],
      sentence: /exports no pipeline \(it has no default export\); right would be `export default/
    },
    {
      name: "that exports something else",
      args: () => ["--pipeline", moduleOf("other.ts", "export default { name: 'x' }\n")],
      sentence: /its default export is something else/
    },
    {
      name: "that throws when it is loaded",
      args: () => ["--pipeline", moduleOf("throws.ts", 'throw new Error("no configuration")\n')],
      sentence: /throws.ts cannot be loaded as a module: no configuration; right would be/
    },
    {
      name: "that is no code",
      args: () => ["--pipeline", moduleOf("words.ts", "this is no code\n")],
      sentence: /words.ts cannot be loaded as a module/
    },
    {
      name: "with an option that it does not know",
      args: () => ["--pipeline", example, "--options", '{"direktory": "/tmp"}'],
      sentence: /the pipeline "lines" are wrong: there is no option "direktory"; did you mean "dir/
    },
    {
      name: "with an option of another kind",
      args: () => ["--pipeline", example, "--options", '{"directory": 5}'],
      sentence: /the pipeline "lines" are wrong: .*directory/
    },
    {
      name: "with options that are no JSON",
      args: () => ["--pipeline", example, "--options", "{directory}"],
      sentence: /--options is no JSON/
    },
    {
      name: "with options in a file that is missing",
      args: () => ["--pipeline", example, "--options", join(folder, "missing.json")],
      sentence: /--options is ".*missing.json", which cannot be read/
    },
    {
      name: "without a stream",
      args: () => ["--pipeline", example, "--options", JSON.stringify({ directory })],
      sentence: /name the streams that the pipeline reads with --stream/
    },
    {
      name: "that archives, with a stream",
      args: () => ["--stream", "ORDERS"],
      sentence: /--stream goes with a pipeline of your own/
    },
    {
      name: "with a setting that there is not",
      args: () => ["--settings", '{"batchRecord": 5}'],
      sentence: /there is no option "batchRecord"; did you mean "batchRecords"\?/
    }
  ])("$name", async ({ args, sentence }) => {
    const { status, stderr } = await holdfast(["worker", ...checked(), ...args()])
    expect(status).toBe(1)
    expect(stderr).toMatch(sentence)
    expect(stderr.trim().split("\n")).toHaveLength(1)
  })

  it("but one that can be run passes the check, its options in a file", async () => {
    const file = join(folder, "options.json")
    writeFileSync(file, JSON.stringify({ directory, ending: ".txt" }))
    const args = ["--pipeline", example, "--options", file, "--stream", "ORDERS"]
    const answer = await holdfast(["worker", ...checked(), ...args])
    expect(answer).toMatchObject({ status: 0, stderr: "" })
  })
})
