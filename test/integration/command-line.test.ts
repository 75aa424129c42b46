/** The command line against an embedded cluster: what a newcomer types, right and wrong. */
import { spawnSync } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { eventually, type Finished, holdfast, type Running, start } from "./process.ts"

const folder = mkdtempSync(join(tmpdir(), "holdfast-command-line-"))
const data = join(folder, "data")
const small = ["--hosts", "2", "--peers", "3", "--workers", "1"]
let cluster: Running

const file = (name: string, text: string): string => {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}

const at = (directory: string, ...args: ReadonlyArray<string>): Promise<Finished> =>
  holdfast([...args, "--data", directory])

const up = async (directory: string): Promise<Running> => {
  const running = start(["up", "--data", directory, ...small])
  await running.said("holdfast is up", 120_000)
  return running
}

const stackTrace = /\n\s+at .+:\d+:\d+/

/** One sentence on standard error, a status above 0, no stack trace, nothing on standard output. */
const expectSentence = (finished: Finished, ...words: ReadonlyArray<string>): void => {
  expect(finished.status, finished.stderr).toBe(1)
  expect(finished.stdout).not.toMatch(/^\{/)
  for (const word of words) expect(finished.stdout + finished.stderr).toContain(word)
  expect(finished.stdout + finished.stderr).not.toMatch(stackTrace)
}

/** Waits until a stream's archive holds so many records, and answers them. */
const archived = (directory: string, archive: string, count: number) =>
  eventually(
    `${archive} holds ${count} records`,
    async () => {
      const { stdout } = await at(directory, "read", archive, "--raw")
      const lines = stdout === "" ? [] : stdout.trimEnd().split("\n")
      return lines.length >= count ? lines : undefined
    },
    120_000
  )

beforeAll(async () => {
  cluster = await up(data)
}, 150_000)

afterAll(async () => {
  cluster.kill("SIGKILL")
  await cluster.exited
  rmSync(folder, { recursive: true, force: true })
})

describe("what is typed wrongly gets a sentence", () => {
  it("an unknown flag, by its name", async () => {
    expectSentence(await at(data, "status", "--colour"), "Unrecognized flag: --colour")
  }, 60_000)

  it("a file that is not there", async () => {
    expectSentence(await at(data, "ingest", "nowhere.ndjson", "--stream", "s"), "no file nowhere")
  }, 60_000)

  it("a tag rule, a tag and a time that cannot be understood", async () => {
    expectSentence(await at(data, "archive", "add", "s", "--tag", "kind"), "Right would be")
    expectSentence(await at(data, "search", "s", "--tag", "kind"), "right would be name=value")
    expectSentence(await at(data, "read", "s", "--from", "yesterday"), "right would be")
  }, 120_000)

  it("an archive that does not exist", async () => {
    expectSentence(await at(data, "read", "nothing"), 'no archive "nothing"')
  }, 60_000)

  it("a second `up` on the same directory", async () => {
    const second = await holdfast(["up", "--data", data, ...small])
    expectSentence(second, "held by another process")
  }, 60_000)

  it("a directory on which nothing runs", async () => {
    expectSentence(await at(join(folder, "empty"), "status"), "npm start -- up")
  }, 60_000)

  it("NATS servers that cannot be reached", async () => {
    const finished = await holdfast(["status", "--nats", "nats://127.0.0.1:9"])
    expectSentence(finished, "cannot be reached")
  }, 60_000)
})

it("broken NDJSON in line 3: the lines before it are stored, the rest can follow", async () => {
  const broken = file("broken.ndjson", '{"n":1}\n{"n":2}\n{"n":\n{"n":4}\n')
  await at(data, "archive", "add", "lines", "--segment-age-ms", "200")
  const failed = await at(data, "ingest", broken, "--stream", "lines")
  expectSentence(failed, "line 3", "2 records before it are stored", "--after 2")
  file("broken.ndjson", '{"n":1}\n{"n":2}\n{"n":3}\n{"n":4}\n')
  const rest = await at(data, "ingest", broken, "--stream", "lines", "--after", "2", "--json")
  expect(JSON.parse(rest.stdout)).toEqual({ stream: "lines", records: 2 })
  expect(await archived(data, "lines", 4)).toEqual(['{"n":1}', '{"n":2}', '{"n":3}', '{"n":4}'])
}, 240_000)

it("standard input is read, a pipe that closes early is no error", async () => {
  await at(data, "archive", "add", "piped", "--segment-age-ms", "200")
  const input = Array.from({ length: 5_000 }, (_, n) => `line ${n} ${"x".repeat(200)}`).join("\n")
  const args = ["ingest", "-", "--stream", "piped", "--format", "lines", "--data", data]
  expect((await holdfast(args, { input })).stdout).toContain("5000 records stored")
  await archived(data, "piped", 5_000)
  const reading = start(["read", "piped", "--data", data])
  await new Promise<void>((resolve) => {
    reading.process.stdout?.once("data", () => {
      reading.process.stdout?.destroy()
      resolve()
    })
  })
  expect(await reading.exited).toBe(0)
  expect(reading.stderr()).toBe("")
}, 240_000)

it("a cluster killed with SIGKILL, and one stopped, comes back with everything", async () => {
  cluster.kill("SIGKILL")
  await cluster.exited
  cluster = await up(data)
  expect((await archived(data, "lines", 4)).length).toBe(4)
  cluster.kill("SIGTERM")
  expect(await cluster.exited).toBe(143)
  expect(cluster.stderr()).not.toMatch(/away|defect/)
  cluster = await up(data)
  expect((await archived(data, "piped", 5_000)).length).toBe(5_000)
}, 400_000)

it.runIf(process.getuid?.() === 0)(
  "a full disk refuses with a sentence and loses nothing that was answered",
  async () => {
    const disk = join(folder, "disk")
    mkdirSync(disk)
    const mount = (size: string, ...options: ReadonlyArray<string>): void => {
      const args = ["-t", "tmpfs", "-o", [...options, `size=${size}`].join(","), "tmpfs", disk]
      expect(spawnSync("mount", args, { encoding: "utf8" }).stderr).toBe("")
    }
    mount("48m")
    const running = await up(disk)
    try {
      await at(disk, "archive", "add", "big", "--segment-age-ms", "200")
      const lines = Array.from({ length: 60_000 }, (_, n) => `${n} ${"y".repeat(1_000)}`)
      const big = file("big.txt", `${lines.join("\n")}\n`)
      const failed = await at(disk, "ingest", big, "--stream", "big")
      expectSentence(failed, "records before it are stored")
      const stored = Number(/(\d+) records before it are stored/.exec(failed.stderr)?.[1])
      expect(stored).toBeGreaterThan(0)
      mount("800m", "remount")
      const read = await archived(disk, "big", stored)
      expect(read.slice(0, stored)).toEqual(lines.slice(0, stored))
    } finally {
      running.kill("SIGKILL")
      await running.exited
      spawnSync("umount", [disk])
    }
  },
  400_000
)
