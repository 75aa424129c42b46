/** Puts of plain files that are killed: gone on with when they are run again, or freed. */
import { createHash, randomBytes } from "node:crypto"
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { eventually, holdfast, type Running, start } from "./process.ts"

const folder = mkdtempSync(join(tmpdir(), "holdfast-put-resume-"))
const data = join(folder, "data")
const mebibyte = 1024 * 1024
const limitMs = 120_000
const chunks = 10
let cluster: Running

/** The JSON that a command prints on its one line of standard output. */
const json = async (...args: ReadonlyArray<string>) => {
  const { status, stderr, stdout } = await holdfast([...args, "--data", data, "--json"], {
    limitMs
  })
  expect(status, stderr).toBe(0)
  return JSON.parse(stdout)
}

const file = (name: string, bytes: Uint8Array): string => {
  const path = join(folder, name)
  writeFileSync(path, bytes)
  return path
}

/** Copies of whole chunks under the data directory; a file may go while they are counted. */
const copiesOnDisk = (): number =>
  readdirSync(data, { recursive: true, withFileTypes: true }).filter((entry) => {
    if (!entry.isFile()) return false
    const found = statSync(join(entry.parentPath, entry.name), { throwIfNoEntry: false })
    return found !== undefined && found.size >= 32 * mebibyte
  }).length

/** Starts a put and kills it with so many copies more on the disks than before. */
const killedPut = async (path: string, name: string, copies: number): Promise<void> => {
  const before = copiesOnDisk()
  const put = start(["put", path, "--name", name, "--data", data])
  while (copiesOnDisk() < before + copies) {
    expect(put.process.exitCode, put.stderr()).toBeNull()
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  put.kill("SIGKILL")
  kills += 1
  expect(await put.exited).toBe(128 + 9)
}

interface Unfinished {
  readonly name: string
  readonly bytes: number
  readonly chunks: number
}

const unfinished = async (): Promise<ReadonlyArray<Unfinished>> => json("ls", "--unfinished")
const knownChunks = async (): Promise<number> => (await json("status")).metadata.chunks.known

/** Copies that a put has under way at a time: two writes, two copies each. */
const underWayMax = 4
/** With so many more on the disks, some are committed. */
const enough = underWayMax + 2
let kills = 0

/**
 * Nothing is left in the record, nor on a device but what was being written when a put was killed:
 * that goes when its reservation ends, minutes later.
 */
const expectNothingLeft = async (): Promise<void> => {
  expect(await unfinished()).toEqual([])
  expect(await knownChunks()).toBe(0)
  await eventually(
    "all copies are deleted",
    async () => (copiesOnDisk() <= kills * underWayMax ? true : undefined),
    limitMs
  )
}

beforeAll(async () => {
  cluster = start(["up", "--data", data, "--hosts", "2", "--peers", "3", "--workers", "1"])
  await cluster.said("holdfast is up", limitMs)
}, 150_000)

afterAll(async () => {
  cluster.kill("SIGKILL")
  await cluster.exited
  rmSync(folder, { recursive: true, force: true })
})

describe("a put that is killed", () => {
  const bytes = randomBytes(chunks * 32 * mebibyte - 5)
  const sha256 = createHash("sha256").update(bytes).digest("hex")

  it("archive-P1: twice, goes on behind what is stored, and stores nothing twice", async () => {
    const path = file("big.bin", bytes)
    await killedPut(path, "big", enough)
    const [first] = await unfinished()
    expect(first?.chunks).toBeGreaterThan(0)
    expect(await json("ls")).toEqual([])
    const shown = await holdfast(["ls", "--data", data], { limitMs })
    expect(shown.stdout).toMatch(/^big .* unfinished$/m)
    await killedPut(path, "big", enough)
    const [second] = await unfinished()
    expect(second?.chunks).toBeGreaterThan(first?.chunks ?? 0)
    expect(second?.chunks).toBeLessThan(chunks)
    const put = await json("put", path, "--name", "big")
    expect(put).toMatchObject({ chunks, sha256, keptChunks: second?.chunks })
    expect(await knownChunks()).toBe(chunks)
    expect(await unfinished()).toEqual([])
    const out = join(folder, "back.bin")
    await json("get", "big", "--out", out)
    expect(Buffer.compare(readFileSync(out), bytes)).toBe(0)
    rmSync(out)
    await json("rm", "big")
    await expectNothingLeft()
  }, 300_000)

  it("archive-P2: is freed by rm, and by a put of other bytes", async () => {
    const path = file("big.bin", bytes)
    await killedPut(path, "big", enough)
    await json("rm", "big")
    await expectNothingLeft()
    await killedPut(path, "big", enough)
    const other = await json("put", file("other.bin", randomBytes(1_000)), "--name", "big")
    expect(other).toMatchObject({ bytes: 1_000, keptChunks: 0, replacedPuts: 1 })
    expect(await knownChunks()).toBe(1)
    await json("rm", "big")
    await expectNothingLeft()
  }, 300_000)
})
