import { describe, expect, it } from "vitest"
import { locate } from "./locate.ts"
import { mapEntries } from "./ordered-map.ts"
import { setMode } from "./modes.ts"
import { dropFromRepair } from "./repair-class.ts"
import { status } from "./status.ts"
import { Cluster, succeed } from "./testing/cluster.ts"

const names = ["a", "b", "c", "d", "e", "f"]
const hostOf = (device: string) => `h-${device}`

type Standing = "good" | "stale" | "corrupt" | "draining" | "none"

/** Six devices, a chunk of goal 2 on all that are not `none`, each in its standing. */
const setUp = (standings: ReadonlyArray<Standing>) => {
  const cluster = new Cluster({ deadAfterMs: 1_000_000 })
  for (const name of names) cluster.addServer(hostOf(name), name)
  cluster.start()
  const chunk = cluster.write(["a"], { goal: 2 })
  const key = { fileId: chunk.fileId, chunkId: chunk.chunkId }
  cluster.disk("a").copies.clear()
  cluster.restartServer(hostOf("a"))
  cluster.run((draft) => dropFromRepair(draft, key))
  standings.forEach((standing, index) => {
    const name = names[index]!
    if (standing === "none") return
    const bad = standing === "corrupt"
    cluster.store(name, bad ? { ...chunk, checksum: 7 } : chunk)
  })
  for (const name of names) cluster.restartServer(hostOf(name))
  for (const name of names) {
    const server = cluster.server(hostOf(name))
    server.holdCommands = true
    cluster.beat(server.hostId)
  }
  standings.forEach((standing, index) => {
    const deviceId = names[index]!
    if (standing === "draining") {
      succeed(cluster.run((draft) => setMode(draft, { deviceId, desired: "draining" })))
    }
    if (standing === "stale") cluster.server(hostOf(deviceId)).alive = false
  })
  cluster.now += cluster.settings.staleAfterMs
  for (const name of names) {
    if (cluster.server(hostOf(name)).alive) cluster.beat(hostOf(name))
  }
  return { cluster, chunk }
}

const victims = (cluster: Cluster) =>
  [...mapEntries(cluster.state.deletions)].map(([key]) => cluster.state.deviceNames[key.device])

/** Every way to give each of six devices one of the standings, thinned to keep the test short. */
const cases: Array<ReadonlyArray<Standing>> = []
const kinds: ReadonlyArray<Standing> = ["good", "stale", "corrupt", "draining", "none"]
for (let code = 0; code < 5 ** 6; code += 31) {
  cases.push(names.map((_name, index) => kinds[Math.floor(code / 5 ** index) % 5]!))
}
for (let code = 0; code < 2 ** 6; code++) {
  cases.push(names.map((_name, index) => ((code >> index) & 1 ? "good" : "none")))
}

describe("metadata-T6, metadata-B16, metadata-I2: which copy goes", () => {
  it(`leaves at least the goal of good copies in ${cases.length} mixes of six holders`, () => {
    for (const standings of cases) {
      const { cluster } = setUp(standings)
      const good = names.filter((_name, index) => standings[index] === "good")
      cluster.run((draft) => draft.settings)
      cluster.pass(10)
      const gone = victims(cluster)
      const left = good.filter((name) => !gone.some((one) => one === name))
      const deletedGood = good.length - left.length
      expect([standings, left.length >= Math.min(2, good.length)]).toEqual([standings, true])
      expect([standings, deletedGood]).toEqual([standings, Math.max(0, good.length - 2)])
      const silent = names.filter((_name, index) => standings[index] === "stale")
      expect(gone.filter((name) => silent.some((one) => one === name))).toEqual([])
    }
  }, 60_000)

  it("decides the same every time", () => {
    const pick = () => {
      const { cluster } = setUp(["good", "good", "good", "good", "good", "none"])
      cluster.pass(10)
      return victims(cluster)
    }
    expect(pick()).toEqual(pick())
  })
})

describe("surplus and silent holders", () => {
  it("metadata-B13: a stale holder counts for nothing until it is heard", () => {
    const { cluster } = setUp(["good", "good", "stale", "none", "none", "none"])
    cluster.pass(10)
    expect(victims(cluster)).toEqual([])
    cluster.server(hostOf("c")).alive = true
    cluster.beat(hostOf("c"))
    cluster.pass(10)
    expect(victims(cluster)).toHaveLength(1)
  })

  it("metadata-B14: two copies on one host: one of them goes first", () => {
    const cluster = new Cluster()
    cluster.addServer("h1", "a", "b")
    cluster.addServer("h2", "c")
    cluster.start()
    const chunk = cluster.write(["a", "c"])
    cluster.store("b", chunk)
    cluster.server("h1").changes.push({ _tag: "Added", deviceId: "b", epoch: 1, chunk })
    cluster.sign("h1")
    cluster.pass(10)
    expect(["a", "b"]).toContain(victims(cluster)[0])
  })

  it("metadata-B18: the healthy copy stays when the other one is damaged", () => {
    const { cluster, chunk } = setUp(["good", "corrupt", "none", "none", "none", "none"])
    cluster.pass(10)
    expect(victims(cluster)).not.toContain("a")
    const where = cluster.run((draft) => locate(draft, chunk))
    expect(where._tag === "Found" && where.holders).toEqual(["a"])
  })

  it("metadata-B22: kill, repair, return: back to goal within a few rounds", () => {
    const cluster = new Cluster()
    for (const name of ["a", "b", "c"]) cluster.addServer(hostOf(name), name)
    cluster.start()
    const fileId = cluster.file()
    for (let index = 0; index < 50; index++) cluster.write(["a", "c"], { fileId })
    cluster.server(hostOf("c")).alive = false
    cluster.rounds(110)
    expect(cluster.run(status).chunks).toMatchObject({ atGoal: 50, belowGoal: 0 })
    cluster.restartServer(hostOf("c"))
    cluster.rounds(5)
    expect(cluster.run(status).chunks).toMatchObject({ atGoal: 50, surplus: 0 })
    const copies = ["a", "b", "c"].map((name) => cluster.disk(name).copies.size)
    expect(copies[0]! + copies[1]! + copies[2]!).toBe(100)
  })
})
