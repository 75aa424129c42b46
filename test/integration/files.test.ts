/** Plain files and an operator's commands on the command line, against one embedded cluster. */
import { createHash, randomBytes } from "node:crypto"
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { eventually, type Finished, holdfast, type Running, start } from "./process.ts"

const folder = mkdtempSync(join(tmpdir(), "holdfast-files-"))
const data = join(folder, "data")
const mebibyte = 1024 * 1024
const limitMs = 120_000
let cluster: Running

const at = (...args: ReadonlyArray<string>): Promise<Finished> =>
  holdfast([...args, "--data", data], { limitMs })

/** The JSON that a command prints on its one line of standard output. */
const json = async (...args: ReadonlyArray<string>) => {
  const { status, stderr, stdout } = await at(...args, "--json")
  expect(status, stderr).toBe(0)
  expect(stdout.trimEnd().split("\n")).toHaveLength(1)
  return JSON.parse(stdout)
}

const file = (name: string, bytes: Uint8Array | string): string => {
  const path = join(folder, name)
  writeFileSync(path, bytes)
  return path
}

/** One sentence on standard error, a status of 1, nothing on standard output. */
const expectSentence = (finished: Finished, ...words: ReadonlyArray<string>): void => {
  expect(finished.status, finished.stderr).toBe(1)
  expect(finished.stdout).toBe("")
  for (const word of words) expect(finished.stderr).toContain(word)
  expect(finished.stderr.trimEnd().split("\n")).toHaveLength(1)
}

const chunksKnown = async (): Promise<number> => (await json("status")).metadata.chunks.known

beforeAll(async () => {
  cluster = start(["up", "--data", data, "--hosts", "2", "--peers", "3", "--workers", "1"])
  await cluster.said("holdfast is up", limitMs)
}, 150_000)

afterAll(async () => {
  cluster.kill("SIGKILL")
  await cluster.exited
  rmSync(folder, { recursive: true, force: true })
})

/** Waits until devices are as they should be. */
const devicesAre = (what: string, isSo: (device: Device) => boolean): Promise<unknown> =>
  eventually(
    what,
    async () => {
      const devices: ReadonlyArray<Device> = await json("devices")
      return devices.every(isSo) ? devices : undefined
    },
    limitMs
  )

interface Device {
  readonly deviceId: string
  readonly copies: number
  readonly mode: string
  readonly state: string
}

describe("plain files", () => {
  const bytes = randomBytes(70 * mebibyte)

  it("70 MiB come back byte for byte, whole and in ranges, and are freed by rm", async () => {
    const path = file("big.bin", bytes)
    const sha256 = createHash("sha256").update(bytes).digest("hex")
    expect(await json("put", path)).toMatchObject({ name: "big.bin", chunks: 3, goal: 2, sha256 })
    const whole = join(folder, "whole.bin")
    const seam = join(folder, "seam.bin")
    const tail = join(folder, "tail.bin")
    const get = (out: string, from: number, to: number) =>
      json("get", "big.bin", "--out", out, "--from", String(from), "--to", String(to))
    const [known, answer] = await Promise.all([
      chunksKnown(),
      json("get", "big.bin", "--out", whole),
      get(seam, 32 * mebibyte - 3, 32 * mebibyte + 4),
      get(tail, bytes.length - 5, bytes.length + 5)
    ])
    expect(known).toBe(3)
    expect(answer).toEqual({ name: "big.bin", out: whole, bytes: bytes.length })
    expect(Buffer.compare(readFileSync(whole), bytes)).toBe(0)
    expect(readFileSync(seam)).toEqual(bytes.subarray(32 * mebibyte - 3, 32 * mebibyte + 5))
    expect(readFileSync(tail)).toEqual(bytes.subarray(-5))
    const beyond = await at("get", "big.bin", "--out", tail, "--from", String(bytes.length))
    expectSentence(beyond, `the bytes 0 to ${bytes.length - 1}`)
    expect(readFileSync(tail)).toHaveLength(5)
    expect(readdirSync(folder).filter((name) => name.endsWith(".part"))).toEqual([])
    expect((await at("rm", "big.bin")).stdout).toContain("big.bin is removed")
    expectSentence(await at("get", "big.bin"), 'no file "big.bin"')
    await devicesAre("the copies are deleted", ({ copies }) => copies === 0)
  }, 300_000)

  it("a pipe that closes early is no error", async () => {
    await json("put", file("piped.bin", bytes.subarray(0, 8 * mebibyte)), "--name", "dir/note")
    const reading = start(["get", "dir/note", "--data", data])
    await new Promise<void>((resolve) => {
      reading.process.stdout?.once("data", () => {
        reading.process.stdout?.destroy()
        resolve()
      })
    })
    expect(await reading.exited).toBe(0)
    expect(reading.stderr()).not.toContain("holdfast:")
  }, 120_000)

  it("a name that exists is taken over, the old chunks are freed", async () => {
    await json("put", file("note.txt", "the second\n"), "--name", "dir/note")
    const [read, known] = await Promise.all([at("get", "dir/note"), chunksKnown()])
    expect(read.stdout).toBe("the second\n")
    expect(known).toBe(1)
  }, 120_000)

  it("standard input, an empty file, a listing", async () => {
    const args = ["put", "-", "--name", "dir/input", "--goal", "1", "--data", data]
    const [put, empty] = await Promise.all([
      holdfast(args, { input: "from standard input", limitMs }),
      json("put", file("empty", ""), "--name", "dir/empty")
    ])
    expect(put.status, put.stderr).toBe(0)
    expect(empty).toMatchObject({ bytes: 0, chunks: 0 })
    const out = join(folder, "empty-back")
    const [listed, table, part] = await Promise.all([
      json("ls", "dir/"),
      at("ls", "dir/n"),
      at("get", "dir/input", "--from", "5", "--to", "12"),
      json("get", "dir/empty", "--out", out)
    ])
    expect(listed.map((one: { name: string; bytes: number }) => [one.name, one.bytes])).toEqual([
      ["dir/empty", 0],
      ["dir/input", 19],
      ["dir/note", 11]
    ])
    expect(table.stdout.split("\n")[1]).toMatch(/^dir\/note +11 B +1 +2 +\d{4}-/)
    expect(part.stdout).toBe("standard")
    expect(readFileSync(out)).toHaveLength(0)
  }, 120_000)

  it("what is not there is one sentence, and leaves nothing", async () => {
    const out = join(folder, "nothing")
    const [get, rm, put] = await Promise.all([
      at("get", "nothing", "--out", out),
      at("rm", "nothing"),
      at("put", join(folder, "nowhere"))
    ])
    expectSentence(get, 'no file "nothing"')
    expect(existsSync(out)).toBe(false)
    expectSentence(rm, 'no file "nothing"')
    expectSentence(put, "there is no file")
  }, 120_000)
})

describe("an operator's commands", () => {
  const modeOf = async (wanted: string): Promise<string | undefined> => {
    const devices: ReadonlyArray<Device> = await json("devices")
    return devices.find(({ deviceId }) => deviceId === wanted)?.mode
  }

  it("freeze and thaw are seen in devices", async () => {
    const device = "host-1-disk"
    expect(await json("devices", "freeze", device)).toEqual({ deviceId: device, frozen: true })
    expect(await modeOf(device)).toBe("frozen")
    expect((await at("devices", "thaw", device)).stdout).toContain("takes new chunks again")
    const [thawed, unknown] = await Promise.all([
      modeOf(device),
      at("devices", "freeze", "host-9-disk")
    ])
    expect(thawed).toBe("normal")
    expectSentence(unknown, "no device host-9-disk")
  }, 120_000)

  it("partitions are listed in pages and shown one by one, peers, too", async () => {
    const listed = (...args: ReadonlyArray<string>) =>
      json("partitions", "--peer", "peer-2", ...args)
    const keysOf = (page: { readonly partitions: ReadonlyArray<{ readonly key: string }> }) =>
      page.partitions.map(({ key }) => key)
    const [all, first, peer] = await Promise.all([
      listed(),
      listed("--limit", "1"),
      json("peers", "show", "peer-3")
    ])
    expect(first).toMatchObject({ peer: "peer-2", more: true })
    const [key = ""] = keysOf(first)
    const [rest, shown, nobody] = await Promise.all([
      listed("--after", key),
      json("partitions", "show", key, "--peer", "peer-1"),
      at("partitions", "show", "0".repeat(64), "--peer", "peer-9")
    ])
    expect([key, ...keysOf(rest)]).toEqual(keysOf(all))
    expect(shown).toMatchObject({ key, peer: "peer-1" })
    expect(shown.participants).toHaveLength(3)
    expectSentence(nobody, 'no peer "peer-9" answers')
    expect(peer.applications).toMatchObject([{ name: "catalogue", partitions: keysOf(all).length }])
    expect(peer.peers.map((one: { peer: string }) => one.peer)).toEqual(["peer-1", "peer-2"])
  }, 180_000)

  it("shards say who owns them and how far they are", async () => {
    const orders = file("orders.txt", "one\ntwo\nthree\n")
    await json("archive", "add", "orders", "--segment-age-ms", "200")
    await json("ingest", orders, "--stream", "orders")
    const [shard] = await eventually(
      "the shard is checkpointed",
      async () => {
        const shards = await json("shards")
        return shards[0]?.lag === "0" ? shards : undefined
      },
      limitMs
    )
    expect(shard).toMatchObject({ shard: "orders", owner: "worker-1", state: "running" })
    expect(shard).toMatchObject({ checkpoint: "3", newest: "3", counters: { finished: 3 } })
  }, 180_000)

  it("safe mode is entered and left by hand", async () => {
    expect((await json("safe-mode", "enter")).tip).toContain("by hand")
    expect((await json("safe-mode", "leave")).tip).toBe("safe mode is off")
  }, 120_000)

  it("a device is taken offline at once, and comes back when it is thawed", async () => {
    const taken = await json("devices", "offline", "host-2-disk")
    expect(taken.belowGoal).toBeGreaterThan(0)
    await json("devices", "thaw", "host-2-disk")
    await devicesAre("all are online", ({ state }) => state === "online")
  }, 180_000)

  it("a drain says what keeps it; hosts and chunks are shown, to people in 100 columns", async () => {
    await json("put", file("kept.bin", randomBytes(10_000)), "--name", "kept")
    expect((await json("devices", "drain", "host-1-disk")).belowGoal).toBeGreaterThan(0)
    const finalReason = "no-device-takes-it"
    // A chunk with one copy finds a place on the other device; those with two do not.
    const blockers = await eventually(
      "only those are left that no device takes",
      async () => {
        const left = (await json("devices", "blocked", "host-1-disk")).blockers
        const { belowGoal } = (await json("chunks")).chunks
        const isSettled = left.every((one: { reason: string }) => one.reason === finalReason)
        return left.length === belowGoal && isSettled ? left : undefined
      },
      limitMs
    )
    const [{ chunk, reason }] = blockers
    expect(reason).toBe(finalReason)
    const one = await json("chunks", "show", `${chunk.fileId}/${chunk.chunkId}`)
    expect(one).toMatchObject({ goal: 2, health: "below-goal", reason })
    expect(one.copies.map(({ state }: { state: string }) => state)).toEqual(["valid", "valid"])
    const listed = (await json("chunks", "list", "--reason", reason)).chunks
    expect(listed).toHaveLength(blockers.length)
    expect(await json("hosts")).toMatchObject([
      { hostId: "host-1", live: true, devices: 1 },
      { hostId: "host-2", live: true, devices: 1 }
    ])
    expectSentence(await at("devices", "remove", "host-1-disk"), "drain it or take it offline")
    for (const command of ["hosts", "chunks", "chunks list", "devices blocked host-1-disk"]) {
      const { status, stdout } = await at(...command.split(" "))
      expect(status).toBe(0)
      for (const line of stdout.split("\n")) expect(line.length).toBeLessThanOrEqual(100)
    }
    await json("devices", "thaw", "host-1-disk")
    await devicesAre("none drains", ({ mode }) => mode === "normal")
  }, 180_000)
})
