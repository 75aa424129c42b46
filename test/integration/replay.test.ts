/**
 * Replay and restore on the command line, over a real NATS server and over an embedded cluster:
 * what comes out equals what went in by subjects, headers, data and order, each record once.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import {
  DiscardPolicy,
  jetstreamManager,
  type JetStreamManager,
  RetentionPolicy
} from "@nats-io/jetstream"
import { connect, type NatsConnection } from "@nats-io/transport-node"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { type NatsServer, startNatsServer } from "./nats-server.ts"
import { contentsOfStream, type Message, messages, publishAll } from "./stream-contents.ts"
import { eventually, type Finished, holdfast, type Running, start } from "./process.ts"

const folder = mkdtempSync(join(tmpdir(), "holdfast-replay-"))
const data = join(folder, "data")
const limitMs = 120_000
const small = ["--hosts", "2", "--peers", "3", "--workers", "1"]

describe("over NATS", () => {
  const count = 20_000
  let server: NatsServer
  let connection: NatsConnection
  let manager: JetStreamManager
  let cluster: Running

  const at = (...args: ReadonlyArray<string>): Promise<Finished> =>
    holdfast([...args, "--nats", server.url], { limitMs })

  const json = async (...args: ReadonlyArray<string>) => {
    const { status, stderr, stdout } = await at(...args, "--json")
    expect(status, stderr).toBe(0)
    return JSON.parse(stdout)
  }

  const publish = (all: ReadonlyArray<Message>) => publishAll(connection, all)
  const contentsOf = (name: string) => contentsOfStream(connection, name)

  /** Waits until the archive holds so many records. */
  const archived = (name: string, records: number) =>
    eventually(
      `${name} holds ${records} records`,
      async () =>
        (await json("archive", "show", name)).totals.records >= records ? true : undefined,
      limitMs
    )

  beforeAll(async () => {
    server = await startNatsServer()
    connection = await connect({ servers: server.url })
    manager = await jetstreamManager(connection)
    cluster = start(["up", "--data", join(folder, "nats"), "--nats", server.url, ...small])
    await cluster.said("holdfast is up", limitMs)
    await manager.streams.add({
      name: "ORDERS",
      subjects: ["orders.*"],
      max_msgs_per_subject: 100_000,
      description: "as it was",
      duplicate_window: 60_000_000_000
    })
    await json(
      "archive",
      "add",
      "ORDERS",
      "--segment-age-ms",
      "200",
      "--segment-bytes",
      "262144",
      "--tag",
      "kind=json:kind"
    )
    await publish(messages(1, count))
    await archived("ORDERS", count)
    // The original gives way: its subjects can belong to one stream at a time.
    await manager.streams.purge("ORDERS")
    await manager.streams.delete("ORDERS")
  }, 300_000)

  afterAll(async () => {
    cluster.kill("SIGKILL")
    await cluster.exited
    await connection.close()
    await server.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  it("archive-R1: killed in the middle and run again, beyond what the server remembers of ids: each record once", async () => {
    await manager.streams.add({
      name: "AGAIN",
      subjects: ["orders.>"],
      duplicate_window: 100_000_000
    })
    const args = ["replay", "ORDERS", "--into", "AGAIN", "--rate", "4000"]
    const killed = start([...args, "--nats", server.url])
    await eventually(
      "some are replayed",
      async () => ((await manager.streams.info("AGAIN")).state.messages > 2_000 ? true : undefined),
      limitMs
    )
    killed.kill("SIGKILL")
    await killed.exited
    const before = (await manager.streams.info("AGAIN")).state.messages
    expect(before).toBeLessThan(count)
    const rest = await json("replay", "ORDERS", "--into", "AGAIN")
    expect(rest).toMatchObject({ published: count - before, duplicates: 0, into: "AGAIN" })
    expect(await json("replay", "ORDERS", "--into", "AGAIN")).toMatchObject({ published: 0 })
    expect(await contentsOf("AGAIN")).toEqual(messages(1, count))
    await manager.streams.delete("AGAIN")
  }, 300_000)

  it("archive-R2: a target that is full is said so and loses nothing; with room the rest follows in order", async () => {
    await manager.streams.add({
      name: "FULL",
      subjects: ["orders.>"],
      max_bytes: 300_000,
      discard: DiscardPolicy.New
    })
    const full = await at("replay", "ORDERS", "--into", "FULL")
    expect(full.status).toBe(1)
    expect(full.stderr).toMatch(
      /The replay stopped at .*maximum bytes exceeded.* records of this run are in the stream FULL/
    )
    expect(full.stderr).not.toMatch(/\n\s+at /)
    await manager.streams.update("FULL", { max_bytes: -1 })
    await json("replay", "ORDERS", "--into", "FULL")
    expect(await contentsOf("FULL")).toEqual(messages(1, count))
    await manager.streams.delete("FULL")
  }, 300_000)

  it("ranges and tags; a target that is away, or takes other subjects, is one sentence", async () => {
    await manager.streams.add({ name: "PART", subjects: ["orders.>"] })
    const part = await json("replay", "ORDERS", "--into", "PART", "--from", "100", "--to", "199")
    expect(part.published).toBe(100)
    const tagged = await json("replay", "ORDERS", "--into", "PART", "--tag", "kind=3", "--to", "99")
    expect(tagged.published).toBe(
      messages(1, 99).filter((one) => one.data.includes('"kind":3')).length
    )
    expect((await contentsOf("PART")).slice(0, 100)).toEqual(messages(100, 199))
    await manager.streams.delete("PART")
    await manager.streams.add({ name: "OTHER", subjects: ["other.>"] })
    const [nowhere, other, own] = await Promise.all([
      at("replay", "ORDERS", "--into", "NOWHERE"),
      at("replay", "ORDERS", "--into", "OTHER"),
      at("replay", "ORDERS", "--into", "ORDERS")
    ])
    expect(nowhere.stderr).toContain("there is no stream NOWHERE to replay into")
    expect(other.stderr).toContain('the stream OTHER does not take the subject "orders.us"')
    expect(own.stderr).toContain("pause it first")
    for (const { status, stderr } of [nowhere, other, own]) {
      expect(status).toBe(1)
      expect(stderr.trimEnd().split("\n")).toHaveLength(1)
    }
  }, 300_000)

  it("archive-R5: a stream that was purged and deleted is restored as it was, and archived on", async () => {
    const { origin } = await json("archive", "show", "ORDERS")
    const recorded = JSON.parse(origin.streamConfiguration)
    const killed = start(["restore", "ORDERS", "--rate", "4000", "--nats", server.url])
    await eventually(
      "some are restored",
      async () => {
        const streams = await manager.streams.list().next()
        const found = streams.find(({ config }) => config.name === "ORDERS")
        return (found?.state.messages ?? 0) > 2_000 ? found : undefined
      },
      limitMs
    )
    killed.kill("SIGKILL")
    await killed.exited
    const restored = await json("restore", "ORDERS")
    expect(restored).toMatchObject({ stream: "ORDERS", changed: [], isAligned: true })
    expect(restored.published).toBeLessThan(count - 2_000)
    const { config, state } = await manager.streams.info("ORDERS")
    expect(config).toEqual(recorded)
    expect(state).toMatchObject({ first_seq: 1, last_seq: count })
    expect(await contentsOf("ORDERS")).toEqual(messages(1, count))

    expect((await json("archive", "resume", "ORDERS")).status).toBe("active")
    await publish(messages(count + 1, count + 300))
    await archived("ORDERS", count + 300)
    const read = await at("read", "ORDERS", "--raw", "--from", String(count + 1))
    const rest = messages(count + 1, count + 300).map((one) => `${one.data}\n`)
    expect(read.stdout).toBe(rest.join(""))
    const again = await at("restore", "ORDERS")
    expect(again.status).toBe(1)
    expect(again.stderr).toContain("exists and is not of this restore")
  }, 300_000)

  it("limits that would drop records are named before anything is made; they are lifted or kept", async () => {
    await manager.streams.add({ name: "LOGS", subjects: ["logs.>"], max_age: 3_600_000_000_000 })
    await json("archive", "add", "LOGS", "--segment-age-ms", "200")
    const logs = messages(1, 200).map((one) => ({
      ...one,
      subject: one.subject.replace("orders", "logs")
    }))
    await publish(logs)
    await archived("LOGS", 200)
    await manager.streams.update("LOGS", { max_msgs: 50 })
    await eventually(
      "the change is recorded",
      async () => {
        const { origin } = await json("archive", "show", "LOGS")
        return JSON.parse(origin.streamConfiguration).max_msgs === 50 ? true : undefined
      },
      limitMs
    )
    await manager.streams.delete("LOGS")
    const refused = await at("restore", "LOGS")
    expect(refused.status).toBe(1)
    expect(refused.stderr).toContain("max_msgs is 50, and 200 records are archived")
    expect(refused.stderr).toContain("--adjust-limits")
    await expect(manager.streams.info("LOGS")).rejects.toThrow("stream not found")
    const restored = await json("restore", "LOGS", "--adjust-limits")
    expect(restored.changed).toEqual(["lifted: max_msgs is 50, and 200 records are archived"])
    expect(await contentsOf("LOGS")).toEqual(logs)
    const alone = await holdfast(["restore", "LOGS", "--data", join(folder, "nats")], { limitMs })
    expect(alone.stderr).toContain("name the servers with --nats")
  }, 300_000)

  it("archive add --check adds nothing; what an archive could not do is refused", async () => {
    const checked = await json("archive", "add", "NEW", "--dead-letter", "NEW-DEAD", "--check")
    expect(checked.origin).toEqual({ name: "NEW", stream: "NEW", shards: [] })
    expect(checked.settings).toMatchObject({ goal: 2, onError: "dead-letter" })
    expect((await at("archive", "show", "NEW")).stderr).toContain('no archive "NEW"')
    await manager.streams.add({
      name: "QUEUE",
      subjects: ["queue.>"],
      retention: RetentionPolicy.Workqueue
    })
    await manager.streams.add({ name: "TAKEN", subjects: ["taken.>"] })
    const refusals: ReadonlyArray<readonly [ReadonlyArray<string>, string]> = [
      [["QUEUE"], 'only "limits" streams can be archived'],
      [["NEW", "--dead-letter", "TAKEN"], "does not take dead letters"],
      [["NEW", "--dead-letter", "NEW"], "cannot take dead letters of its own archive"],
      [["NEW", "--on-error", "dead-letter"], 'a "deadLetter" stream'],
      [["NEW", "--filter", "a..b"], "--filter cannot be used"],
      [["NEW", "--keep", "1 year"], "right would be one of 365d"],
      [["NEW", "--compression", "zip"], "right would be none, zstd or zstd:19"]
    ]
    const answers = await Promise.all(
      refusals.map(([args]) => at("archive", "add", ...args, "--check"))
    )
    for (const [index, { status, stderr }] of answers.entries()) {
      expect(stderr).toContain(refusals[index]?.[1])
      expect(status).toBe(1)
    }
  }, 300_000)
})

describe("over an embedded cluster", () => {
  let cluster: Running
  const at = (...args: ReadonlyArray<string>): Promise<Finished> =>
    holdfast([...args, "--data", data], { limitMs })
  const lines = Array.from({ length: 30_000 }, (_, n) => `line ${n} ${"y".repeat(n % 60)}`)

  const archived = (archive: string, count: number) =>
    eventually(
      `${archive} holds ${count} records`,
      async () => {
        const { stdout } = await at("read", archive, "--raw")
        const read = stdout === "" ? [] : stdout.trimEnd().split("\n")
        return read.length >= count ? read : undefined
      },
      limitMs
    )

  beforeAll(async () => {
    cluster = start(["up", "--data", data, ...small])
    await cluster.said("holdfast is up", limitMs)
    const path = join(folder, "lines.txt")
    writeFileSync(path, `${lines.join("\n")}\n`)
    for (const name of ["lines", "again"])
      await at("archive", "add", name, "--segment-age-ms", "200")
    expect((await at("ingest", path, "--stream", "lines")).status).toBe(0)
    await archived("lines", lines.length)
  }, 300_000)

  afterAll(async () => {
    cluster.kill("SIGKILL")
    await cluster.exited
    rmSync(data, { recursive: true, force: true })
  })

  it("archive-R1: killed in the middle and run again into a spool stream: each record once, in order", async () => {
    const args = ["replay", "lines", "--into", "again", "--data", data]
    const journal = join(data, "replays", "again", "last-intent")
    const killed = start([...args, "--rate", "5000"])
    await eventually(
      "some are replayed",
      async () => {
        const [head = ""] = existsSync(journal) ? readFileSync(journal, "latin1").split("\n") : []
        return Number(/\.(\d+)"/.exec(head)?.[1] ?? 0) > 5_000 ? true : undefined
      },
      limitMs
    )
    killed.kill("SIGKILL")
    await killed.exited
    const rest = await holdfast([...args, "--json"], { limitMs })
    expect(rest.status, rest.stderr).toBe(0)
    const { published } = JSON.parse(rest.stdout)
    expect(published).toBeLessThan(lines.length)
    const second = await holdfast([...args, "--json"], { limitMs })
    expect(JSON.parse(second.stdout)).toMatchObject({ published: 0 })
    expect(await archived("again", lines.length)).toEqual(lines)
  }, 300_000)

  it("a filter archives the subjects that match, and holds nothing else back", async () => {
    const check = await at(
      "archive",
      "add",
      "mixed",
      "--filter",
      "mixed.*",
      "--name",
      "some",
      "--check"
    )
    expect(check.stdout).toMatch(/filter +mixed\.\*\n.*goal +2\n/s)
    await at(
      "archive",
      "add",
      "mixed",
      "--filter",
      "mixed.*",
      "--name",
      "some",
      "--segment-age-ms",
      "200"
    )
    const path = join(folder, "mixed.txt")
    for (const [subject, line] of [
      ["mixed.a", "one"],
      ["other", "two"],
      ["mixed.b", "three"],
      ["other", "four"]
    ] as const) {
      writeFileSync(path, `${line}\n`)
      expect((await at("ingest", path, "--stream", "mixed", "--subject", subject)).status).toBe(0)
    }
    expect(await archived("some", 2)).toEqual(["one", "three"])
  }, 300_000)
})
