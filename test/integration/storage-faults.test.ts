/**
 * What happens to disks and clocks, on real processes: a flipped bit, a lost server, a cloned
 * device, an unmounted one, a full one, wall clocks that are years apart and jump.
 */
import { randomBytes } from "node:crypto"
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync
} from "node:fs"
import { execFileSync } from "node:child_process"
import { tmpdir } from "node:os"
import { basename, join } from "node:path"
import { pathToFileURL } from "node:url"
import { afterAll, beforeAll, expect, it } from "vitest"
import { type NatsServer, startNatsServer } from "./nats-server.ts"
import { eventually, holdfast, type Running, start } from "./process.ts"

const mebibyte = 1024 * 1024
const limitMs = 120_000
const folder = mkdtempSync(join(tmpdir(), "holdfast-faults-"))
const keyFile = join(folder, "key")
const clockFile = join(folder, "clock.mjs")
const running = new Map<string, Running>()
const devices = [1, 2, 3, 4].map((number) => join(folder, "devices", `d${number}`))
const bytes = randomBytes(3 * mebibyte)
let server: NatsServer

const common = (): ReadonlyArray<string> => ["--cluster", "test", "--nats", server.url]

const year = 365 * 86_400_000

/** A process whose wall clock is wrong from the start, and jumps by years at each SIGUSR2. */
const clock = `
const real = Date.now
let ahead = Number(process.env.CLOCK_AHEAD_MS ?? 0)
Date.now = () => real() + ahead
process.on("SIGUSR2", () => { ahead = ahead > 0 ? ${-year} : ${year} })
`

/** Nobody's clock agrees with another's. */
const clocks: Readonly<Record<string, number>> = { metadata: -year, h1: year, h2: -2 * year }

const launch = async (name: string, args: ReadonlyArray<string>): Promise<Running> => {
  const process = start([...args, ...common()], {
    NODE_OPTIONS: `--import ${clockUrl()}`,
    CLOCK_AHEAD_MS: String(clocks[name] ?? 0)
  })
  running.set(name, process)
  await process.said("is ready", limitMs)
  return process
}

const clockUrl = (): string => pathToFileURL(clockFile).href

const stop = async (name: string, signal: "SIGKILL" | "SIGTERM"): Promise<void> => {
  const process = running.get(name)
  process?.kill(signal)
  await process?.exited
  running.delete(name)
}

const chunkServer = (
  name: string,
  device: string,
  ...more: ReadonlyArray<string>
): Promise<Running> =>
  launch(name, [
    "chunk-server",
    "--id",
    name,
    "--key-file",
    keyFile,
    "--data",
    join(folder, "hosts", name),
    "--reserved-mib",
    "8",
    "--device",
    device,
    ...more
  ])

const json = async (...args: ReadonlyArray<string>) => {
  const { status, stderr, stdout } = await holdfast([...args, ...common(), "--json"], { limitMs })
  if (status !== 0) throw new Error(`${args.join(" ")}: ${stderr}`)
  return JSON.parse(stdout)
}

interface Chunks {
  readonly atGoal: number
  readonly belowGoal: number
  readonly corrupt: number
  readonly known: number
  readonly missing: number
  readonly surplus: number
}

const sound = { belowGoal: 0, corrupt: 0, missing: 0, surplus: 0 }

const chunksAre = (what: string, wanted: Partial<Chunks>): Promise<Chunks> =>
  eventually(
    what,
    async () => {
      const chunks: Chunks = (await json("status")).metadata.chunks
      const isSo = Object.entries(wanted).every(
        ([name, count]) => chunks[name as keyof Chunks] === count
      )
      return isSo ? chunks : undefined
    },
    limitMs
  )

interface Device {
  readonly deviceId: string
  readonly hostId: string
  readonly state: string
}

const devicesAre = (
  what: string,
  isSo: (device: Device) => boolean,
  count: number
): Promise<unknown> =>
  eventually(
    what,
    async () => {
      const listed: ReadonlyArray<Device> = await json("devices")
      return listed.filter(isSo).length === count ? listed : undefined
    },
    limitMs
  )

/** The copies on a device, their paths. */
const copiesOn = (device: string): ReadonlyArray<string> =>
  readdirSync(join(device, "chunks"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".chunk"))
    .map((name) => join(device, "chunks", name))

const put = async (name: string, content: Uint8Array, ...more: ReadonlyArray<string>) => {
  const path = join(folder, name)
  writeFileSync(path, content)
  return json("put", path, "--name", name, ...more)
}

const get = async (name: string): Promise<Buffer> => {
  const out = join(folder, "back")
  await json("get", name, "--out", out)
  return readFileSync(out)
}

beforeAll(async () => {
  server = await startNatsServer()
  writeFileSync(keyFile, `${"cd".repeat(32)}\n`, { mode: 0o600 })
  writeFileSync(clockFile, clock)
  mkdirSync(join(folder, "devices"))
  const metadata = ["metadata", "--key-file", keyFile, "--data", join(folder, "metadata")]
  const times = ["--stale-after-ms", "4000", "--dead-after-ms", "8000", "--repair-delay-ms", "0"]
  await launch("metadata", [
    ...metadata,
    ...times,
    "--safe-mode-extension-ms",
    "0",
    "--free-mib",
    "8"
  ])
  await Promise.all([
    ...devices.map((device, index) => chunkServer(`h${index + 1}`, device, "--format")),
    launch("p1", ["peer", "--id", "p1", "--peers", "p1", "--data", join(folder, "p1")])
  ])
  await put("first", bytes)
}, 240_000)

afterAll(async () => {
  for (const process of running.values()) process.kill("SIGKILL")
  await Promise.all([...running.values()].map(({ exited }) => exited))
  await server?.stop()
  rmSync(folder, { recursive: true, force: true })
})

it("a flipped bit in one copy: six of six reads are right, then it is repaired and removed", async () => {
  const holder = devices.find((device) => copiesOn(device).length > 0) ?? ""
  const [copy = ""] = copiesOn(holder)
  const content = readFileSync(copy)
  const middle = content.length >> 1
  content.writeUInt8(content.readUInt8(middle) ^ 16, middle)
  writeFileSync(copy, content)
  for (let read = 0; read < 6; read += 1) expect((await get("first")).equals(bytes)).toBe(true)
  // Which holder a read asks first is chance: sooner or later one meets the damage.
  await eventually(
    "the damaged copy is gone",
    async () => {
      expect((await get("first")).equals(bytes)).toBe(true)
      const copies = devices.flatMap(copiesOn)
      const isDamaged = copies.some((path) => readFileSync(path).equals(content))
      return copies.length === 2 && !isDamaged ? true : undefined
    },
    limitMs
  )
  await chunksAre("repaired", { ...sound, known: 1, atGoal: 1 })
}, 300_000)

it("one of four servers is killed: repaired; it returns: trimmed", async () => {
  const index = devices.findIndex((device) => copiesOn(device).length > 0)
  const name = `h${index + 1}`
  await stop(name, "SIGKILL")
  await devicesAre("it is noticed", ({ state }) => state === "dead", 1)
  await chunksAre("repaired", { ...sound, atGoal: 1 })
  await chunkServer(name, devices[index] ?? "")
  await eventually(
    "trimmed",
    async () => (devices.flatMap(copiesOn).length === 2 ? true : undefined),
    limitMs
  )
  await chunksAre("as it was", { ...sound, atGoal: 1 })
}, 300_000)

it("a cloned device is refused by name, and nothing changes", async () => {
  const clone = join(folder, "devices", "clone")
  // As on another machine: the claim of a process of this one would be in its way already.
  const filter = (path: string): boolean => !basename(path).startsWith("claim-")
  cpSync(devices[0] ?? "", clone, { recursive: true, filter })
  const process = await chunkServer("h5", clone)
  await process.said("may not be served here", limitMs)
  expect(process.stderr()).toContain("d1")
  const listed: ReadonlyArray<Device> = await json("devices")
  expect(listed.map(({ deviceId, hostId }) => [deviceId, hostId])).toEqual(
    [1, 2, 3, 4].map((number) => [`d${number}`, `h${number}`])
  )
  await chunksAre("unchanged", { ...sound, atGoal: 1 })
  await stop("h5", "SIGTERM")
}, 180_000)

it("an unmounted device is offline; nothing is written to its mount point or formatted", async () => {
  const [device = ""] = devices
  const away = `${device}.unmounted`
  await stop("h1", "SIGTERM")
  renameSync(device, away)
  mkdirSync(device)
  const process = await chunkServer("h1", device)
  await process.said("holds no device", limitMs)
  await put("second", bytes)
  expect(readdirSync(device)).toEqual([])
  rmSync(device, { recursive: true })
  renameSync(away, device)
  await devicesAre("it is served again", ({ state }) => state === "online", 4)
  await chunksAre("as it was", { ...sound, atGoal: 2 })
}, 240_000)

it("metadata-I13: wall clocks that jump by years change nothing", async () => {
  for (let jump = 0; jump < 2; jump += 1) {
    for (const process of running.values()) process.kill("SIGUSR2")
    expect((await get("first")).equals(bytes)).toBe(true)
    await put(`after jump ${jump}`, bytes)
    await chunksAre("nobody is dead", { ...sound, atGoal: 3 + jump })
    const { metadata } = await json("status")
    expect(metadata.devices).toMatchObject({ live: 4, stale: 0, dead: 0 })
  }
}, 240_000)

/** Starts a service on what is left of its directory; it must end by itself, twice, in words. */
const expectRefusal = async (args: ReadonlyArray<string>, words: RegExp): Promise<void> => {
  for (let attempt = 0; attempt < 2; attempt += 1) {
    const refused = await holdfast([...args, ...common()], { limitMs })
    expect(refused.stderr).toMatch(words)
    expect(refused.status).toBe(1)
    expect(refused.stderr).not.toMatch(/\n\s+at /)
  }
}

it("a peer whose store lost pages refuses it, and so does the next one that is started", async () => {
  const data = join(folder, "p1-damaged")
  cpSync(join(folder, "p1"), data, { recursive: true })
  const file = join(data, "data.mdb")
  writeFileSync(file, readFileSync(file).fill(0, 2 * 4_096))
  const peer = ["peer", "--id", "p1", "--peers", "p1", "--data", data]
  await expectRefusal(peer, /data\.mdb is damaged, page \d+: .*Move .*p1-damaged away/)
}, 120_000)

it("a metadata service whose journal has a flipped bit refuses it in words", async () => {
  const data = join(folder, "metadata-damaged")
  cpSync(join(folder, "metadata"), data, { recursive: true })
  const log = readdirSync(data).find((name) => name.startsWith("log-")) ?? ""
  const content = readFileSync(join(data, log))
  const middle = content.length >> 1
  content.writeUInt8(content.readUInt8(middle) ^ 16, middle)
  writeFileSync(join(data, log), content)
  const metadata = ["metadata", "--key-file", keyFile, "--data", data]
  await expectRefusal(metadata, /metadata-damaged.*(checksum|damaged|corrupt)/)
}, 120_000)

it.skipIf(process.getuid?.() !== 0)(
  "a device on a disk that fills: writes go elsewhere, what is read is right",
  async () => {
    const small = join(folder, "small")
    mkdirSync(small)
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=24m", "holdfast-test", small])
    try {
      await chunkServer("h6", join(small, "d6"), "--format")
      const large = randomBytes(6 * mebibyte)
      const many = Array.from({ length: 8 }, (_, index) => `many ${index}`)
      for (const name of many) await put(name, large, "--goal", "2")
      for (const name of many) expect((await get(name)).equals(large)).toBe(true)
      const stored = copiesOn(join(small, "d6")).reduce((sum, path) => sum + statSync(path).size, 0)
      expect(stored).toBeLessThanOrEqual(16 * mebibyte)
      await chunksAre("at their goals", sound)
    } finally {
      await stop("h6", "SIGKILL")
      execFileSync("umount", [small])
    }
    await chunksAre("repaired without it", sound)
  },
  300_000
)
