/** The version merge table: path x device x version x state of the copy, 36 cases. */
import * as Result from "effect/Result"
import { describe, expect, it } from "vitest"
import type { ChunkCopy } from "./identity.ts"
import { locate } from "./locate.ts"
import { mapEntries } from "./ordered-map.ts"
import { publish } from "./publish.ts"
import { chunkOf, Cluster, succeed } from "./testing/cluster.ts"
import { nameOf } from "./testing/disks.ts"

/**
 * The map says `base` on devices a and b, goal 2. The copy that turns up is
 *
 * | level | settled | open |
 * |---|---|---|
 * | lower | committed once, replaced since | its lease is still open |
 * | equal | the committed bytes | the committed version with other bytes |
 * | higher | never given out by this journal | its lease is open |
 */
const setUp = () => {
  const cluster = new Cluster({ leaseMs: 20_000 })
  cluster.addServer("h1", "a")
  cluster.addServer("h2", "b")
  cluster.addServer("h3", "c")
  cluster.start()
  const first = cluster.write(["a", "b"])
  const { fileId, chunkId } = first
  const lowerOpen = succeed(cluster.alloc(fileId, { chunkId }))
  const base = cluster.write(["a", "b"], { fileId, chunkId })
  const higherOpen = succeed(cluster.alloc(fileId, { chunkId }))
  cluster.rounds(4)
  return { cluster, first, lowerOpen, base, higherOpen }
}

type World = ReturnType<typeof setUp>
type Level = "lower" | "equal" | "higher"
type Standing = "settled" | "open"

const copyFor = (world: World, level: Level, standing: Standing): ChunkCopy => {
  const { first, lowerOpen, base, higherOpen } = world
  if (level === "equal") return standing === "settled" ? base : { ...base, checksum: 1 }
  if (standing === "open") return chunkOf(level === "lower" ? lowerOpen : higherOpen)
  return level === "lower" ? first : { ...base, version: 2 ** 40 }
}

const arrive = {
  "full report": (world: World, device: string, copy: ChunkCopy) => {
    const { cluster } = world
    const host = device === "a" ? "h1" : "h3"
    cluster.store(device, copy)
    cluster.restartServer(host)
    const reply = succeed(cluster.sign(host))
    const wanted = reply.reportsWanted[0]!
    cluster.report(host, device, wanted.lease)
    return ""
  },
  added: (world: World, device: string, copy: ChunkCopy) => {
    const { cluster } = world
    const server = cluster.server(device === "a" ? "h1" : "h3")
    cluster.store(device, copy)
    server.changes.push({ _tag: "Added", deviceId: device, epoch: 1, chunk: copy })
    server.holdCommands = true
    cluster.beat(server.hostId)
    return ""
  },
  publish: (world: World, device: string, copy: ChunkCopy) => {
    const { cluster } = world
    cluster.store(device, copy)
    const outcome = cluster.run((draft) =>
      publish(draft, {
        requestId: null,
        leaseId: copy.version,
        chunk: copy,
        goal: 2,
        min: 1,
        receipts: [cluster.receipt(device, copy)]
      })
    )
    return Result.isFailure(outcome) ? outcome.failure.code : ""
  }
}
type Path = keyof typeof arrive

const run = (path: Path, device: string, level: Level, standing: Standing): string => {
  const world = setUp()
  const { cluster, base } = world
  const copy = copyFor(world, level, standing)
  const refused = arrive[path](world, device, copy)
  const where = cluster.run((draft) => locate(draft, base))
  const holders = where._tag === "Found" ? [...where.holders].sort().join("") : where._tag
  const version = where._tag === "Found" && where.record.version === base.version ? "base" : "new"
  cluster.pass(10)
  const deletes = [...mapEntries(cluster.state.deletions)].map(([key]) => {
    const of = key.version === base.version ? "base" : key.version === copy.version ? level : "?"
    return `${cluster.state.deviceNames[key.device]}@${of}`
  })
  const alarms = cluster.alarms.map((alarm) => alarm.kind)
  return [`${version} on ${holders}`, ...deletes.map((one) => `delete ${one}`), ...alarms, refused]
    .filter((part) => part !== "")
    .join(", ")
}

const table: ReadonlyArray<readonly [Path, string, Level, Standing, string]> = [
  ["full report", "a", "lower", "settled", "base on ab, delete a@lower"],
  ["full report", "a", "lower", "open", "base on ab, delete a@lower"],
  ["full report", "a", "equal", "settled", "base on ab"],
  ["full report", "a", "equal", "open", "base on b, corrupt-copy"],
  ["full report", "a", "higher", "settled", "base on ab, future-copy"],
  ["full report", "a", "higher", "open", "base on ab"],
  ["full report", "c", "lower", "settled", "base on ab, delete c@lower"],
  ["full report", "c", "lower", "open", "base on ab, delete c@lower"],
  ["full report", "c", "equal", "settled", "base on abc, delete c@base"],
  ["full report", "c", "equal", "open", "base on ab, delete c@base, corrupt-copy"],
  ["full report", "c", "higher", "settled", "base on ab, future-copy"],
  ["full report", "c", "higher", "open", "base on ab"],
  ["added", "a", "lower", "settled", "base on ab, delete a@lower"],
  ["added", "a", "lower", "open", "base on ab, delete a@lower"],
  ["added", "a", "equal", "settled", "base on ab"],
  ["added", "a", "equal", "open", "base on b, corrupt-copy"],
  ["added", "a", "higher", "settled", "base on ab, future-copy"],
  ["added", "a", "higher", "open", "base on ab"],
  ["added", "c", "lower", "settled", "base on ab, delete c@lower"],
  ["added", "c", "lower", "open", "base on ab, delete c@lower"],
  ["added", "c", "equal", "settled", "base on abc, delete c@base"],
  ["added", "c", "equal", "open", "base on ab, delete c@base, corrupt-copy"],
  ["added", "c", "higher", "settled", "base on ab, future-copy"],
  ["added", "c", "higher", "open", "base on ab"],
  ["publish", "a", "lower", "settled", "base on ab, stale-version"],
  ["publish", "a", "lower", "open", "base on ab, stale-version"],
  ["publish", "a", "equal", "settled", "base on ab"],
  ["publish", "a", "equal", "open", "base on ab, stale-version"],
  ["publish", "a", "higher", "settled", "base on ab, unknown-lease"],
  ["publish", "a", "higher", "open", "new on a"],
  ["publish", "c", "lower", "settled", "base on ab, stale-version"],
  ["publish", "c", "lower", "open", "base on ab, stale-version"],
  ["publish", "c", "equal", "settled", "base on ab"],
  ["publish", "c", "equal", "open", "base on ab, stale-version"],
  ["publish", "c", "higher", "settled", "base on ab, unknown-lease"],
  ["publish", "c", "higher", "open", "new on c"]
]

describe("metadata-T1: the version merge table", () => {
  it.each(table)("%s, device %s, %s and %s: %s", (path, device, level, standing, expected) => {
    expect(run(path, device, level, standing)).toBe(expected)
  })

  it("has all 36 cases", () => {
    expect(new Set(table.map((row) => row.slice(0, 4).join())).size).toBe(36)
  })
})

describe("what the table leaves open", () => {
  const reported = (world: World, device: string, copy: ChunkCopy) => {
    arrive.added(world, device, copy)
    return world.cluster
  }

  it("metadata-W37: a copy whose acknowledgement was lost joins when its server names it", () => {
    const world = setUp()
    const { cluster, higherOpen } = world
    const copy = chunkOf(higherOpen)
    for (const device of ["a", "b", "c"]) cluster.store(device, copy)
    succeed(cluster.publish(higherOpen, ["a", "c"], { goal: 3 }))
    reported(world, "b", copy)
    const before = cluster.run((draft) => locate(draft, copy))
    expect(before._tag === "Found" && [...before.holders].sort()).toEqual(["a", "c"])
    cluster.server("h2").changes.push({ _tag: "Added", deviceId: "b", epoch: 1, chunk: copy })
    cluster.sign("h2")
    const after = cluster.run((draft) => locate(draft, copy))
    expect(after._tag === "Found" && [...after.holders].sort()).toEqual(["a", "b", "c"])
  })

  it("metadata-W37: a higher version whose lease is over goes to the quarantine", () => {
    const world = setUp()
    const { cluster, higherOpen } = world
    cluster.rounds(30)
    reported(world, "c", chunkOf(higherOpen))
    expect(cluster.state.quarantine.size + cluster.state.deletions.size).toBeGreaterThan(0)
    expect(cluster.run((draft) => locate(draft, world.base))._tag).toBe("Found")
  })

  it("metadata-W22: while a future copy of a chunk exists none of its copies is deleted", () => {
    const world = setUp()
    const { cluster, base } = world
    arrive.added(world, "a", { ...base, version: 2 ** 40 })
    arrive.added(world, "c", base)
    cluster.rounds(5)
    expect(cluster.disk("a").copies.has(nameOf(base))).toBe(true)
    expect(cluster.state.deletions.size).toBe(0)
  })

  it("metadata-B30: a copy without bytes is corrupt, never valid", () => {
    const world = setUp()
    const { cluster, base } = world
    reported(world, "c", { ...base, length: 0, checksum: 0 })
    const where = cluster.run((draft) => locate(draft, base))
    expect(where._tag === "Found" && [...where.holders].sort()).toEqual(["a", "b"])
    expect(cluster.alarms.map((alarm) => alarm.kind)).toContain("corrupt-copy")
  })

  it("metadata-W21: an old copy goes once the new version is safe, and stays while it is all", () => {
    const cluster = new Cluster()
    for (const name of ["a", "b", "c"]) cluster.addServer(`h${name}`, name)
    cluster.start()
    const old = cluster.write(["a", "b"])
    const { fileId, chunkId } = old
    cluster.server("ha").alive = false
    const present = cluster.write(["c"], { fileId, chunkId, goal: 2 })
    cluster.disk("c").copies.clear()
    cluster.server("hc").changes.push({ _tag: "Bad", deviceId: "c", epoch: 1, chunk: present })
    cluster.rounds(10)
    // Nothing of the new version is left: the old copies are all there is of the chunk.
    expect(cluster.disk("b").copies.has(nameOf(old))).toBe(true)
    cluster.store("c", present)
    cluster.restartServer("hc")
    cluster.rounds(25)
    expect(cluster.disk("b").copies.has(nameOf(old))).toBe(false)
    cluster.restartServer("ha")
    cluster.rounds(10)
    expect(cluster.disk("a").copies.has(nameOf(old))).toBe(false)
  })

  it("a copy that is named again changes nothing", () => {
    const world = setUp()
    const { cluster, base } = world
    for (let round = 0; round < 3; round++) reported(world, "c", base)
    expect(cluster.run((draft) => draft.figures.digest(2)).count).toBe(1)
  })
})
