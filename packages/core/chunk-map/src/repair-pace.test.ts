/** Repair goes on as fast as copies are made, not as fast as ticks come. */
import { describe, expect, it } from "vitest"
import { Cluster, succeed } from "./testing/cluster.ts"

const setUp = (settings: ConstructorParameters<typeof Cluster>[0]) => {
  const cluster = new Cluster(settings)
  cluster.addServer("ha", "a")
  cluster.addServer("hb", "b")
  return cluster.start()
}

describe("the pace of repair", () => {
  it("slots that the outcomes of a heartbeat free are filled by its reply", () => {
    const cluster = setUp({ copiesInMax: 1, copySlotBytes: 1, copiesOutMax: 100 })
    const fileId = cluster.file()
    for (let index = 0; index < 4; index++) cluster.write(["a"], { fileId, goal: 2 })
    cluster.pass(10)
    const told: Array<number> = []
    for (let beats = 0; beats < 4; beats++) told.push(cluster.beat("hb").commands.length)
    expect(told).toEqual([2, 2, 0, 0])
    expect(cluster.disk("b").copies.size).toBe(4)
  })

  it("a heartbeat plans nothing while most slots of its devices are taken", () => {
    const cluster = setUp({ copiesInMax: 4, copySlotBytes: 1, copiesOutMax: 100 })
    const fileId = cluster.file()
    for (let index = 0; index < 12; index++) cluster.write(["a"], { fileId, goal: 2 })
    cluster.pass(10)
    const server = cluster.server("hb")
    server.holdCommands = true
    const { commands } = succeed(cluster.sign("hb"))
    const [first] = commands
    if (first === undefined) throw new Error("nothing was told")
    cluster.carryOut(server, first)
    expect(succeed(cluster.sign("hb")).commands).toEqual([])
  })
})
