import * as Result from "effect/Result"
import { describe, expect, it } from "vitest"
import { free } from "./free.ts"
import type { ChunkVersion } from "./identity.ts"
import { locate } from "./locate.ts"
import { setMode } from "./modes.ts"
import { mapEntries } from "./ordered-map.ts"
import { status } from "./status.ts"
import { Cluster, succeed } from "./testing/cluster.ts"
import { nameOf } from "./testing/disks.ts"

const setUp = (settings = {}) => {
  const cluster = new Cluster(settings)
  cluster.addServer("h1", "a")
  cluster.addServer("h2", "b")
  cluster.addServer("h3", "c")
  return cluster.start()
}

const freeChunk = (cluster: Cluster, chunk: ChunkVersion) =>
  succeed(cluster.run((draft) => free(draft, { requestId: null, chunks: [chunk] })))[0]

const pending = (cluster: Cluster) => cluster.run(status).pending

describe("metadata-T2, metadata-B39, metadata-B42, metadata-I9: the life of a deletion", () => {
  it("issue, lose the reply, resend, acknowledge, create anew, late acknowledgement", () => {
    const cluster = setUp()
    const chunk = cluster.write(["a"])
    const { fileId, chunkId } = chunk
    expect(freeChunk(cluster, chunk)).toBe("freed")
    const server = cluster.server("h1")
    const lost = succeed(cluster.sign("h1"))
    expect(lost.commands).toHaveLength(1)
    expect(succeed(cluster.sign("h1")).commands).toEqual([])
    cluster.pass(cluster.settings.commandResendMs)
    const again = succeed(cluster.sign("h1"))
    expect(again.commands).toMatchObject([{ _tag: "Delete", version: chunk.version }])
    cluster.carryOut(server, again.commands[0]!)
    const acknowledgement = [...server.outcomes]
    cluster.sign("h1")
    expect(pending(cluster).deletions).toBe(0)
    const next = cluster.write(["a"], { fileId })
    expect(next.chunkId).toBeGreaterThan(chunkId)
    server.outcomes.push(...acknowledgement)
    cluster.sign("h1")
    cluster.rounds(2)
    expect(cluster.disk("a").copies.has(nameOf(next))).toBe(true)
    expect(cluster.run((draft) => draft.figures.digest(0)).count).toBe(1)
  })

  it("an acknowledgement of a command that was given up changes nothing", () => {
    const cluster = setUp()
    freeChunk(cluster, cluster.write(["a"]))
    const server = cluster.server("h1")
    server.holdCommands = true
    cluster.beat("h1")
    cluster.now += cluster.settings.deletionTimeoutMs
    cluster.beat("h1")
    const [first, second] = server.held
    expect(second!.commandId).not.toBe(first!.commandId)
    cluster.carryOut(server, first!)
    cluster.sign("h1")
    expect(pending(cluster).deletions).toBe(1)
    cluster.carryOut(server, second!)
    cluster.sign("h1")
    expect(pending(cluster).deletions).toBe(0)
  })

  it("metadata-I10: a copy written anew waits until the deletion of the old one is over", () => {
    const cluster = setUp()
    const chunk = cluster.write(["a", "b"], { goal: 2 })
    cluster.store("c", chunk)
    cluster.server("h3").changes.push({ _tag: "Added", deviceId: "c", epoch: 1, chunk })
    for (const host of ["h1", "h2", "h3"]) cluster.server(host).holdCommands = true
    cluster.rounds(2)
    const told = [...mapEntries(cluster.state.deletions)]
    expect(told).toHaveLength(1)
    const victim = cluster.state.deviceNames[told[0]![0].device]!
    const other = ["a", "b", "c"].find((name) => name !== victim)!
    const host = (name: string) => ({ a: "h1", b: "h2", c: "h3" })[name] ?? ""
    const targets = () =>
      [...mapEntries(cluster.state.copyJobs)].map(([key]) => cluster.state.deviceNames[key.device])
    succeed(cluster.run((draft) => setMode(draft, { deviceId: other, desired: "frozen" })))
    cluster.disk(other).copies.clear()
    cluster.restartServer(host(other))
    cluster.rounds(3)
    expect(targets()).toEqual([])
    const server = cluster.server(host(victim))
    for (const command of server.held.splice(0)) cluster.carryOut(server, command)
    server.holdCommands = false
    cluster.rounds(2)
    expect(cluster.disk(victim).copies.size).toBe(1)
  })

  it("a copy whose deletion was told does not count again because its server names it", () => {
    const cluster = setUp()
    const chunk = cluster.write(["a", "b"], { goal: 2 })
    const added = (deviceId: string) => ({ _tag: "Added", deviceId, epoch: 1, chunk }) as const
    cluster.store("c", chunk)
    cluster.server("h3").changes.push(added("c"))
    for (const host of ["h1", "h2", "h3"]) cluster.server(host).holdCommands = true
    cluster.rounds(2)
    const [key] = [...mapEntries(cluster.state.deletions)][0]!
    const victim = cluster.state.deviceNames[key.device]!
    const server = cluster.server(["h1", "h2", "h3"][key.device]!)
    server.changes.push(added(victim))
    cluster.sign(server.hostId)
    expect(pending(cluster).deletions).toBe(1)
    const where = cluster.run((draft) => locate(draft, chunk))
    expect(where._tag === "Found" && where.holders).not.toContain(victim)
  })

  it("metadata-W11: a deletion is durable: after a restart the copies still go", () => {
    const cluster = setUp()
    const chunk = cluster.write(["a", "b"])
    freeChunk(cluster, chunk)
    cluster.restartService()
    cluster.start()
    cluster.rounds(3)
    expect([cluster.disk("a").copies.size, cluster.disk("b").copies.size]).toEqual([0, 0])
    expect(pending(cluster)).toMatchObject({ deletions: 0, freed: 0 })
  })

  it("metadata-W5: free of an older version touches nothing", () => {
    const cluster = setUp()
    const old = cluster.write(["a", "b"])
    const { fileId, chunkId } = old
    const present = cluster.write(["a", "b"], { fileId, chunkId })
    expect(freeChunk(cluster, old)).toBe("newer-version")
    cluster.rounds(4)
    expect(cluster.disk("a").copies.has(nameOf(present))).toBe(true)
    expect(cluster.disk("a").copies.has(nameOf(old))).toBe(false)
  })

  it("metadata-W4: free in safe mode is recorded, and nothing is told before it is off", () => {
    const cluster = setUp({ devicesMin: 3 })
    const chunk = cluster.write(["a", "b"])
    cluster.restartService()
    expect(freeChunk(cluster, chunk)).toBe("freed")
    cluster.server("h3").alive = false
    cluster.rounds(5)
    expect(cluster.disk("a").copies.size).toBe(1)
    cluster.server("h3").alive = true
    cluster.rounds(3)
    expect(cluster.disk("a").copies.size).toBe(0)
  })

  it("metadata-W43: a repeated free is answered as the first", () => {
    const cluster = setUp()
    const chunk = cluster.write(["a"])
    const command = { requestId: "r1", chunks: [chunk] }
    const first = cluster.run((draft) => free(draft, command))
    const again = cluster.run((draft) => free(draft, command))
    expect(Result.isSuccess(again) && again.success).toEqual(succeed(first))
    expect(freeChunk(cluster, chunk)).toBe("freed")
    expect(freeChunk(cluster, { fileId: 9, chunkId: 9, version: 9 })).toBe("no-such-chunk")
  })
})

describe("deletions and devices", () => {
  it("metadata-B15: killed before the unlink, the copy is judged anew, and ends at goal", () => {
    const cluster = setUp()
    const chunk = cluster.write(["a", "b"], { goal: 2 })
    cluster.store("c", chunk)
    cluster.server("h3").changes.push({ _tag: "Added", deviceId: "c", epoch: 1, chunk })
    for (const host of ["h1", "h2", "h3"]) cluster.server(host).holdCommands = true
    cluster.rounds(2)
    const [key] = [...mapEntries(cluster.state.deletions)][0]!
    const host = ["h1", "h2", "h3"][key.device]!
    for (const each of ["h1", "h2", "h3"]) cluster.server(each).holdCommands = false
    cluster.restartServer(host)
    cluster.rounds(6)
    const left = ["a", "b", "c"].filter((name) => cluster.disk(name).copies.size > 0)
    expect(left).toHaveLength(2)
    expect(pending(cluster).deletions).toBe(0)
  })

  it("metadata-B38: deletions for a dead device delay none for a live one", () => {
    const cluster = setUp({ deletionsMax: 10, leasesMax: 1_000_000 })
    const fileId = cluster.file()
    const doomed = Array.from({ length: 200 }, () => cluster.write(["a"], { fileId, goal: 1 }))
    const wanted = Array.from({ length: 10 }, () => cluster.write(["b"], { fileId, goal: 1 }))
    cluster.server("h1").alive = false
    succeed(
      cluster.run((draft) => free(draft, { requestId: null, chunks: [...doomed, ...wanted] }))
    )
    cluster.beat("h2")
    expect(cluster.disk("b").copies.size).toBe(0)
  })

  it("metadata-W13: deletions of a device that an operator took out are forgotten", () => {
    const cluster = setUp()
    const chunk = cluster.write(["a", "b"])
    cluster.server("h1").alive = false
    freeChunk(cluster, chunk)
    cluster.rounds(100)
    expect(pending(cluster).freed).toBe(1)
    cluster.server("h1").alive = true
    cluster.restartServer("h1")
    cluster.rounds(5)
    expect(cluster.disk("a").copies.size).toBe(0)
    expect(pending(cluster)).toMatchObject({ freed: 0, deletions: 0 })
  })

  it("metadata-B41: a copy of a deleted chunk that comes back is deleted, never attached", () => {
    const cluster = setUp()
    const chunk = cluster.write(["a", "b"])
    const { fileId } = chunk
    cluster.server("h1").alive = false
    cluster.rounds(100)
    freeChunk(cluster, chunk)
    const next = cluster.write(["b", "c"], { fileId })
    cluster.restartServer("h1")
    cluster.rounds(5)
    expect(next.chunkId).not.toBe(chunk.chunkId)
    expect(cluster.disk("a").copies.has(nameOf(chunk))).toBe(false)
    expect(cluster.disk("b").copies.has(nameOf(next))).toBe(true)
  })

  it("metadata-B25: the deletion of a bad copy names the version of that copy", () => {
    const cluster = setUp()
    const old = cluster.write(["a", "b", "c"])
    const { fileId, chunkId } = old
    cluster.server("h1").holdCommands = true
    cluster.write(["b", "c"], { fileId, chunkId })
    cluster.rounds(2)
    const told = cluster.server("h1").held
    expect(told).toMatchObject([{ _tag: "Delete", version: old.version }])
  })

  it("metadata-B40: counters equal a recount after timeouts and retries", () => {
    const cluster = setUp()
    const chunk = cluster.write(["a"])
    freeChunk(cluster, chunk)
    const server = cluster.server("h1")
    server.holdCommands = true
    cluster.rounds(300)
    expect(server.held.length).toBeGreaterThan(2)
    server.holdCommands = false
    for (const command of server.held) cluster.carryOut(server, command)
    cluster.rounds(2)
    expect(pending(cluster)).toMatchObject({ deletions: 0, freed: 0 })
  })
})
