import * as Result from "effect/Result"
import { describe, expect, it } from "vitest"
import { locate } from "./locate.ts"
import { abandon, publish } from "./publish.ts"
import { setMode } from "./modes.ts"
import { status } from "./status.ts"
import { chunkOf, Cluster, codeOf, succeed } from "./testing/cluster.ts"
import { nameOf } from "./testing/disks.ts"

const setUp = (settings = {}) => {
  const cluster = new Cluster(settings)
  cluster.addServer("h1", "a")
  cluster.addServer("h2", "b")
  cluster.addServer("h3", "c")
  return cluster.start()
}

const holders = (cluster: Cluster, chunk: { fileId: number; chunkId: number }) => {
  const where = cluster.run((draft) => locate(draft, chunk))
  return where._tag === "Found" ? [...where.holders].sort().join("") : where._tag
}

describe("publish", () => {
  it("metadata-W1: a newer version is held by exactly its publishers; old copies go later", () => {
    const cluster = setUp()
    const old = cluster.write(["a", "b"])
    const { fileId, chunkId } = old
    const next = cluster.write(["c"], { fileId, chunkId, goal: 2 })
    expect(holders(cluster, next)).toBe("c")
    expect(cluster.disk("a").copies.has(nameOf(old))).toBe(true)
    cluster.rounds(6)
    expect(holders(cluster, next)).toHaveLength(2)
    expect(["a", "b", "c"].map((name) => cluster.disk(name).copies.has(nameOf(old)))).toEqual([
      false,
      false,
      false
    ])
  })

  it("metadata-W9: an unknown, offline or stale device is named and does not count", () => {
    const cluster = setUp()
    const allocation = succeed(cluster.alloc(cluster.file()))
    const chunk = chunkOf(allocation)
    succeed(cluster.run((draft) => setMode(draft, { deviceId: "b", desired: "removed" })))
    const receipts = [
      { deviceId: "a", epoch: 1, chunk, proven: true },
      { deviceId: "zz", epoch: 1, chunk, proven: true },
      { deviceId: "b", epoch: 1, chunk, proven: true },
      { deviceId: "c", epoch: 7, chunk, proven: true },
      { deviceId: "c", epoch: 1, chunk, proven: false },
      { deviceId: "c", epoch: 1, chunk: { ...chunk, length: 3 }, proven: true },
      { deviceId: "a", epoch: 1, chunk, proven: true }
    ]
    const command = { requestId: null, leaseId: allocation.leaseId, chunk, goal: 2, receipts }
    expect(codeOf(cluster.run((draft) => publish(draft, { ...command, min: 2 })))).toBe(
      "too-few-copies"
    )
    const published = succeed(cluster.run((draft) => publish(draft, { ...command, min: 1 })))
    expect(published.copies).toBe(1)
    expect(published.devices.map(({ deviceId, status }) => `${deviceId} ${status}`)).toEqual([
      "a counted",
      "zz unknown-device",
      "b offline-device",
      "c stale-epoch",
      "c bad-receipt",
      "c other-bytes",
      "a counted"
    ])
    expect(holders(cluster, chunk)).toBe("a")
  })

  it("metadata-W37: below the goal it is committed, and repaired to the goal", () => {
    const cluster = setUp()
    const chunk = cluster.write(["a"], { goal: 3 })
    expect(holders(cluster, chunk)).toBe("a")
    cluster.rounds(4)
    expect(holders(cluster, chunk)).toBe("abc")
  })

  it("metadata-W43: repeated by request id, or by content after a restart", () => {
    const cluster = setUp()
    const allocation = succeed(cluster.alloc(cluster.file()))
    for (const device of ["a", "b"]) cluster.store(device, chunkOf(allocation))
    const first = succeed(cluster.publish(allocation, ["a", "b"], { requestId: "p1" }))
    const journal = cluster.journal.length
    expect(succeed(cluster.publish(allocation, ["a", "b"], { requestId: "p1" }))).toEqual(first)
    expect(succeed(cluster.publish(allocation, ["a", "b"], { requestId: "p2" })).copies).toBe(2)
    expect(cluster.journal).toHaveLength(journal)
    cluster.restartService()
    expect(Result.isSuccess(cluster.publish(allocation, ["a", "b"]))).toBe(true)
    cluster.start()
    expect(succeed(cluster.publish(allocation, ["a", "b"]))).toEqual(first)
  })

  it("a lease serves one version of one chunk, for its time, for its size", () => {
    const cluster = setUp({ leaseMs: 10_000 })
    const fileId = cluster.file()
    const one = succeed(cluster.alloc(fileId))
    const two = succeed(cluster.alloc(fileId))
    expect([one.chunkId, two.chunkId]).toEqual([0, 1])
    expect(codeOf(cluster.publish({ ...one, leaseId: two.leaseId }, ["a"]))).toBe("unknown-lease")
    expect(codeOf(cluster.publish({ ...one, leaseId: 10 ** 9 }, ["a"]))).toBe("unknown-lease")
    const small = succeed(cluster.alloc(fileId, { size: 99 }))
    expect(codeOf(cluster.publish(small, ["a"]))).toBe("invalid-request")
    cluster.pass(cluster.settings.leaseMs - 1)
    expect(codeOf(cluster.publish(one, ["a"]))).toBe("no refusal")
    cluster.now += 1
    expect(codeOf(cluster.publish(two, ["a"]))).toBe("lease-expired")
  })

  it("of two versions written at once the older one cannot replace the newer", () => {
    const cluster = setUp()
    const { fileId, chunkId } = cluster.write(["a"])
    const older = succeed(cluster.alloc(fileId, { chunkId }))
    const newer = succeed(cluster.alloc(fileId, { chunkId }))
    succeed(cluster.publish(newer, ["b"]))
    expect(codeOf(cluster.publish(older, ["c"]))).toBe("stale-version")
  })

  it("what was written under an abandoned lease is deleted", () => {
    const cluster = setUp()
    const allocation = succeed(cluster.alloc(cluster.file(), { want: 3 }))
    const chunk = chunkOf(allocation)
    cluster.store("a", chunk)
    cluster.store("b", chunk)
    cluster.server("h1").changes.push({ _tag: "Added", deviceId: "a", epoch: 1, chunk })
    cluster.sign("h1")
    cluster.run((draft) => abandon(draft, { leaseId: allocation.leaseId }))
    cluster.rounds(3)
    expect([cluster.disk("a").copies.size, cluster.disk("b").copies.size]).toEqual([0, 0])
    expect(cluster.state.deletions.size).toBe(0)
  })

  it("metadata-B43: what was never written is resolved: no bytes are no copy, leases end", () => {
    const cluster = setUp({ leaseMs: 5_000, deadAfterMs: 20_000 })
    const fileId = cluster.file()
    const open = succeed(cluster.alloc(fileId, { want: 3 }))
    const empty = { ...chunkOf(open), length: 0, checksum: 0 }
    for (const device of open.devices) cluster.store(device, empty)
    cluster.server("h3").alive = false
    const none = cluster.publish(open, [])
    expect(codeOf(none)).toBe("too-few-copies")
    cluster.rounds(40)
    expect(cluster.run(status).pending).toMatchObject({ reservations: 0, copies: 0, deletions: 0 })
    cluster.restartServer("h3")
    cluster.rounds(10)
    for (const device of open.devices) {
      if (device !== "c") expect(cluster.disk(device).copies.size).toBe(0)
    }
    const next = succeed(cluster.alloc(fileId, { want: 3, size: 0 }))
    const nothing = { ...chunkOf(next), length: 0, checksum: 0 }
    for (const device of next.devices) cluster.store(device, nothing)
    const receipts = next.devices.map((deviceId) => cluster.receipt(deviceId, nothing))
    const { leaseId } = next
    const commit = { requestId: null, leaseId, chunk: nothing, goal: 3, min: 3, receipts }
    expect(succeed(cluster.run((draft) => publish(draft, commit))).copies).toBe(3)
  })

  it("metadata-B73, metadata-I7: no version, file or chunk number is used twice, also over restarts", () => {
    const cluster = setUp()
    const seen = new Set<number>()
    const files = new Set<number>()
    for (let restart = 0; restart < 4; restart++) {
      for (let index = 0; index < 5; index++) {
        const fileId = cluster.file()
        expect(files.has(fileId)).toBe(false)
        files.add(fileId)
        const { version } = succeed(cluster.alloc(fileId))
        expect(seen.has(version)).toBe(false)
        seen.add(version)
      }
      cluster.restartService()
      cluster.start()
    }
  })

  it("a chunk number is not used again after its chunk was freed, also over restarts", () => {
    const cluster = setUp()
    const fileId = cluster.file()
    const chunks = [0, 1, 2].map(() => cluster.write(["a"], { fileId }))
    cluster.run((draft) => draft.cursor)
    const freed = chunks.at(-1)!
    cluster.journal.push({ _tag: "Freed", fileId, chunkId: freed.chunkId, version: freed.version })
    cluster.restartService()
    cluster.start()
    expect(succeed(cluster.alloc(fileId)).chunkId).toBe(3)
  })
})
