import { describe, expect, it } from "vitest"
import { free } from "./free.ts"
import type { Walked } from "./chunk-walk.ts"
import {
  inspectChunk,
  listHosts,
  troubledChunks,
  type TroubledChunk,
  type TroubledWanted
} from "./inspect.ts"
import { setMode } from "./modes.ts"
import { status } from "./status.ts"
import { Cluster, succeed } from "./testing/cluster.ts"

const setUp = (names: ReadonlyArray<string> = ["a", "b", "c"], settings = {}) => {
  const cluster = new Cluster(settings)
  for (const name of names) cluster.addServer(`h${name}`, name)
  return cluster.start()
}

const copies = (cluster: Cluster, key: { fileId: number; chunkId: number }) =>
  cluster
    .run((draft) => inspectChunk(draft, key))
    .copies.map(({ deviceId, version, state }) => `${deviceId}@${version} ${state}`)

describe("one chunk", () => {
  it("every copy has its device, version and state", () => {
    const cluster = setUp()
    for (const name of ["a", "b", "c"]) cluster.server(`h${name}`).holdCommands = true
    const chunk = cluster.write(["a", "b"])
    const { fileId, chunkId } = chunk
    const odd = { fileId, chunkId, version: 2 ** 40, length: 100, checksum: 1 }
    cluster.store("c", odd)
    cluster.server("hc").changes.push({ _tag: "Added", deviceId: "c", epoch: 1, chunk: odd })
    cluster.beat("hc")
    cluster.server("hb").changes.push({ _tag: "Bad", deviceId: "b", epoch: 1, chunk })
    cluster.beat("hb")
    const open = succeed(cluster.alloc(fileId, { chunkId, want: 1, exclude: ["a", "b"] }))
    cluster.pass(10)
    expect(copies(cluster, chunk)).toEqual([
      `c@${2 ** 40} future`,
      `c@${open.version} writing`,
      "a@1 valid",
      "b@1 corrupt",
      "c@1 copying"
    ])
    const view = cluster.run((draft) => inspectChunk(draft, chunk))
    expect(view).toMatchObject({ health: "below-goal", reason: "copying" })
    expect(view.sentence).toBe("a copy is under way")
  })

  it("what is deleted, in quarantine, or not confirmed is said so", () => {
    const cluster = setUp()
    const chunk = cluster.write(["a", "b"])
    cluster.server("ha").holdCommands = true
    cluster.store("c", { ...chunk, chunkId: 9 })
    cluster.restartServer("hc")
    cluster.rounds(2)
    expect(copies(cluster, { ...chunk, chunkId: 9 })).toEqual(["c@1 unknown"])
    cluster.restartServer("hb")
    cluster.sign("hb")
    expect(copies(cluster, chunk)).toEqual(["a@1 valid", "b@1 unknown"])
    cluster.rounds(2)
    succeed(cluster.run((draft) => free(draft, { requestId: null, chunks: [chunk] })))
    expect(copies(cluster, chunk)).toEqual(["a@1 deleting", "b@1 deleting"])
    const gone = cluster.run((draft) => inspectChunk(draft, { fileId: 99, chunkId: 0 }))
    expect(gone).toMatchObject({ record: undefined, copies: [], sentence: "" })
  })
})

describe("chunks with a reason", () => {
  it("metadata-W41: those that are well are left out, pages go on where one ended", () => {
    const cluster = setUp(["a", "b"])
    const fileId = cluster.file()
    for (let index = 0; index < 10; index++) {
      cluster.write(["a", "b"], { fileId, goal: index % 2 === 0 ? 2 : 3 })
    }
    const lost = cluster.write(["a"], { fileId, goal: 1 })
    cluster.server("ha").changes.push({ _tag: "Bad", deviceId: "a", epoch: 1, chunk: lost })
    cluster.beat("ha")
    const found: Array<string> = []
    let after: { fileId: number; chunkId: number } | null = null
    do {
      const wanted: TroubledWanted = { after, limit: 2, reason: null }
      const page: Walked<TroubledChunk> = cluster.run((draft) => troubledChunks(draft, wanted))
      found.push(...page.found.map(({ record, reason }) => `${record.chunkId} ${reason}`))
      after = page.next
    } while (after !== null)
    expect(found).toEqual([
      ...[1, 3, 5, 7, 9].map((chunkId) => `${chunkId} no-device-takes-it`),
      "10 only-bad-copies"
    ])
    const bad = { after: null, limit: 10, reason: "only-bad-copies" }
    expect(cluster.run((draft) => troubledChunks(draft, bad)).found).toHaveLength(1)
  })
})

describe("hosts and counts", () => {
  it("hosts are paged, with their devices and copies", () => {
    const cluster = setUp()
    cluster.write(["a", "b"])
    cluster.server("hb").alive = false
    cluster.rounds(100)
    const page = cluster.run((draft) => listHosts(draft, { after: null, limit: 2 }))
    expect(page.more).toBe(true)
    expect(page.hosts.map(({ host, live, copies: count }) => [host.hostId, live, count])).toEqual([
      ["ha", true, 1],
      ["hb", false, 0]
    ])
    const rest = cluster.run((draft) => listHosts(draft, { after: "hb", limit: 2 }))
    expect([rest.hosts.length, rest.more]).toEqual([1, false])
  })

  it("metadata-W41: status says how long the oldest deletion waits, and what waits for repair", () => {
    const cluster = setUp()
    const chunk = cluster.write(["a", "b"])
    for (const name of ["a", "b"]) cluster.server(`h${name}`).holdCommands = true
    succeed(cluster.run((draft) => free(draft, { requestId: null, chunks: [chunk] })))
    cluster.rounds(3)
    expect(cluster.run(status).pending).toMatchObject({ deletions: 2, oldestDeletionMs: 3_000 })
    for (const name of ["a", "b"]) {
      const server = cluster.server(`h${name}`)
      server.holdCommands = false
      for (const command of server.held.splice(0)) cluster.carryOut(server, command)
    }
    cluster.rounds(2)
    expect(cluster.run(status).pending).toMatchObject({ deletions: 0, oldestDeletionMs: 0 })
    cluster.run((draft) => setMode(draft, { deviceId: "c", desired: "frozen" }))
    cluster.write(["a"], { goal: 2 })
    expect(cluster.run(status).repair).toMatchObject({ "only-copy": 1, low: 0 })
  })
})
