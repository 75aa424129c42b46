import { describe, expect, it } from "vitest"
import { reportBad } from "./report-bad.ts"
import { setMode } from "./modes.ts"
import { locate } from "./locate.ts"
import { mapEntries } from "./ordered-map.ts"
import { dropFromRepair } from "./repair-class.ts"
import { status } from "./status.ts"
import { Cluster, succeed } from "./testing/cluster.ts"
import { nameOf } from "./testing/disks.ts"

const setUp = (settings = {}, names: ReadonlyArray<string> = ["a", "b", "c"]) => {
  const cluster = new Cluster(settings)
  for (const name of names) cluster.addServer(`h${name}`, name)
  return cluster.start()
}

const holders = (cluster: Cluster, chunk: { fileId: number; chunkId: number }) => {
  const where = cluster.run((draft) => locate(draft, chunk))
  return where._tag === "Found" ? [...where.holders].sort().join("") : where._tag
}

const jobs = (cluster: Cluster) =>
  [...mapEntries(cluster.state.copyJobs)].map(([key, job]) => ({
    target: cluster.state.deviceNames[key.device],
    source: cluster.state.deviceNames[job.source],
    version: job.version,
    chunkId: job.chunkId
  }))

describe("repair", () => {
  it("metadata-W35: the only copies go first", () => {
    const settings = { copiesInMax: 2, copiesOutMax: 2, copySlotBytes: 1 }
    const cluster = setUp(settings, ["a", "b", "c", "d"])
    const fileId = cluster.file()
    for (let index = 0; index < 5; index++) cluster.write(["a", "b"], { fileId, goal: 3 })
    const single = cluster.write(["a"], { fileId, goal: 3 })
    cluster.pass(10)
    expect(jobs(cluster).filter((job) => job.chunkId === single.chunkId)).toHaveLength(2)
  })

  it("metadata-B24, metadata-B23: only the committed version is a source", () => {
    const cluster = setUp()
    const old = cluster.write(["a", "b"])
    const { fileId, chunkId } = old
    const present = cluster.write(["b"], { fileId, chunkId, goal: 2 })
    cluster.pass(10)
    expect(jobs(cluster)).toMatchObject([{ source: "b", version: present.version }])
  })

  it("metadata-B21: a device that is still reporting is no target", () => {
    const cluster = setUp()
    cluster.restartServer("hc")
    cluster.sign("hc")
    const chunk = cluster.write(["a"], { goal: 2 })
    cluster.pass(10)
    expect(jobs(cluster).map((job) => job.target)).toEqual(["b"])
    expect(holders(cluster, chunk)).toBe("a")
  })

  it("metadata-I16: a copy that is planned is not told to a target that was frozen since", () => {
    const cluster = setUp()
    const chunk = cluster.write(["a"], { goal: 2 })
    cluster.pass(10)
    const [planned] = jobs(cluster)
    const target = planned?.target ?? ""
    succeed(cluster.run((draft) => setMode(draft, { deviceId: target, desired: "frozen" })))
    cluster.rounds(5)
    expect(holders(cluster, chunk)).toHaveLength(2)
    expect(holders(cluster, chunk)).not.toContain(target)
  })

  it("metadata-B32: nothing is copied from a corrupt copy, which is kept to the last", () => {
    const cluster = setUp()
    const chunk = cluster.write(["a", "b"])
    cluster.store("a", { ...chunk, checksum: 1 })
    cluster.restartServer("ha")
    cluster.server("hb").alive = false
    cluster.rounds(120)
    expect(holders(cluster, chunk)).toBe("Corrupt")
    expect(cluster.run(status).chunks).toMatchObject({ corrupt: 1, missing: 0 })
    expect(cluster.disk("a").copies.size).toBe(1)
    expect(cluster.disk("c").copies.size).toBe(0)
  })

  it("metadata-B31, metadata-W36: a bad copy is repaired from a good one, then removed", () => {
    const cluster = setUp()
    const chunk = cluster.write(["a", "b"])
    cluster.disk("a").copies.delete(nameOf(chunk))
    cluster.store("a", { ...chunk })
    const server = cluster.server("ha")
    server.changes.push({ _tag: "Bad", deviceId: "a", epoch: 1, chunk })
    cluster.beat("ha")
    expect(holders(cluster, chunk)).toBe("b")
    cluster.rounds(5)
    expect(holders(cluster, chunk)).toHaveLength(2)
    expect(cluster.alarms.filter((alarm) => alarm.kind === "corrupt-copy")).toHaveLength(1)
    const total = ["a", "b", "c"].reduce((sum, name) => sum + cluster.disk(name).copies.size, 0)
    expect(total).toBe(2)
  })

  it("a device with a corrupt copy is no target for a good one before that is gone", () => {
    const cluster = setUp()
    const chunk = cluster.write(["a", "b"], { goal: 3 })
    const bad = { _tag: "Bad", deviceId: "a", epoch: 1, chunk } as const
    cluster.server("ha").changes.push(bad)
    cluster.server("ha").holdCommands = true
    cluster.beat("ha")
    cluster.pass(10)
    expect(jobs(cluster).map((job) => job.target)).toEqual(["c"])
    cluster.server("ha").holdCommands = false
    cluster.rounds(8)
    expect(holders(cluster, chunk)).toBe("abc")
  })

  it("metadata-B27: an accusation is checked by the device before it is believed", () => {
    const cluster = setUp()
    const chunk = cluster.write(["a", "b"])
    const accuse = () => cluster.run((draft) => reportBad(draft, { chunk, deviceId: "a" }))
    expect(succeed(accuse())).toEqual({ asked: true })
    expect(succeed(accuse())).toEqual({ asked: true })
    expect(holders(cluster, chunk)).toBe("ab")
    expect(cluster.beat("ha").commands).toMatchObject([{ _tag: "Verify" }])
    cluster.beat("ha")
    expect(holders(cluster, chunk)).toBe("ab")
    expect(cluster.state.verifications.size).toBe(0)
    accuse()
    cluster.disk("a").copies.clear()
    cluster.beat("ha")
    cluster.sign("ha")
    expect(holders(cluster, chunk)).toBe("b")
  })

  it("metadata-B28, metadata-B37: a check that failed says nothing about the copy", () => {
    const cluster = setUp()
    const chunk = cluster.write(["a", "b"])
    cluster.run((draft) => reportBad(draft, { chunk, deviceId: "a" }))
    const server = cluster.server("ha")
    server.holdCommands = true
    cluster.beat("ha")
    const { commandId, fileId, chunkId, version } = server.held[0]!
    server.outcomes.push({
      commandId: `verify.${commandId}.${fileId}.${chunkId}.${version}`,
      deviceId: "a",
      epoch: 1,
      outcome: { _tag: "Failed" }
    })
    cluster.sign("ha")
    expect(holders(cluster, chunk)).toBe("ab")
    expect(cluster.state.verifications.size).toBe(0)
  })

  it("a copy to a target that falls silent before it is told is made elsewhere", () => {
    const cluster = setUp()
    const chunk = cluster.write(["a"], { goal: 2 })
    cluster.pass(10)
    const target = jobs(cluster)[0]!.target!
    cluster.server(`h${target}`).alive = false
    cluster.rounds(20)
    expect(holders(cluster, chunk)).toBe(target === "b" ? "ac" : "ab")
  })

  it("a server that is heard and never reports keeps no chunk from repair for ever", () => {
    const cluster = setUp({ reportLeaseMs: 30_000 })
    const pair = cluster.write(["a", "b"])
    const triple = cluster.write(["a", "b", "c"])
    cluster.addServer("hd", "d")
    cluster.rounds(2)
    cluster.restartServer("hb")
    cluster.server("hb").alive = false
    for (let second = 0; second < 40; second++) {
      cluster.sign("hb")
      cluster.rounds(1)
    }
    expect(holders(cluster, pair)).toMatch(/^a[cd]$/)
    expect(holders(cluster, triple)).toBe("acd")
  })

  it("reports that come again and again keep no chunk from its turn", () => {
    const cluster = setUp({ sweepChunks: 80 }, ["a", "b", "c"])
    const fileId = cluster.file()
    const chunks = Array.from({ length: 40 }, () => cluster.write(["a"], { fileId, goal: 2 }))
    cluster.run((draft) => {
      for (const chunk of chunks) dropFromRepair(draft, chunk)
      setMode(draft, { deviceId: "c", desired: "frozen" })
    })
    for (let round = 0; round < 20; round++) {
      cluster.restartServer("hc")
      cluster.rounds(1)
    }
    expect(cluster.run(status).chunks).toMatchObject({ atGoal: 40 })
  })

  it("metadata-B33: one bad copy is one change and one alarm, and fails no device", () => {
    const cluster = setUp()
    const chunk = cluster.write(["a", "b"])
    for (let report = 0; report < 26; report++) {
      cluster.server("ha").changes.push({ _tag: "Bad", deviceId: "a", epoch: 1, chunk })
      cluster.sign("ha")
    }
    expect(cluster.alarms.map((alarm) => alarm.kind)).toEqual(["corrupt-copy"])
    expect(cluster.run(status).devices).toMatchObject({ live: 3, dead: 0 })
    cluster.rounds(8)
    expect(cluster.run(status).chunks).toMatchObject({ atGoal: 1 })
    expect(cluster.alarms).toHaveLength(1)
  })

  it("a copy that is not confirmed in time is given up and planned anew", () => {
    const cluster = setUp({ copyTimeoutMs: 10_000 })
    cluster.write(["a"], { goal: 2 })
    for (const host of ["hb", "hc"]) cluster.server(host).holdCommands = true
    cluster.rounds(40)
    expect(cluster.run(status).pending.copies).toBe(1)
    for (const host of ["hb", "hc"]) cluster.server(host).holdCommands = false
    cluster.rounds(20)
    expect(cluster.run(status).chunks.atGoal).toBe(1)
  })

  it("metadata-B29: a copy that arrived with other bytes does not count", () => {
    const cluster = setUp()
    const chunk = cluster.write(["a"], { goal: 2 })
    cluster.pass(10)
    const target = jobs(cluster)[0]!.target!
    const server = cluster.server(`h${target}`)
    server.holdCommands = true
    cluster.beat(server.hostId)
    const { commandId, fileId, chunkId, version } = server.held[0]!
    const wrong = { ...chunk, checksum: 1 }
    cluster.store(target, wrong)
    server.outcomes.push({
      commandId: `copy.${commandId}.${fileId}.${chunkId}.${version}`,
      deviceId: target,
      epoch: 1,
      outcome: { _tag: "Done", chunk: wrong }
    })
    cluster.sign(server.hostId)
    expect(holders(cluster, chunk)).toBe("a")
  })

  it("waits for a server that starts again in a moment, unless it stays away", () => {
    const cluster = setUp()
    const chunk = cluster.write(["a", "b"])
    cluster.restartServer("ha")
    cluster.sign("ha")
    cluster.pass(10)
    expect(jobs(cluster)).toEqual([])
    cluster.server("ha").alive = false
    cluster.rounds(20)
    expect(holders(cluster, chunk)).toBe("bc")
  })

  it("repair waits repairDelayMs after safe mode", () => {
    const cluster = setUp({ repairDelayMs: 30_000 })
    const chunk = cluster.write(["a"], { goal: 2 })
    cluster.rounds(10)
    expect(holders(cluster, chunk)).toBe("a")
    cluster.rounds(30)
    expect(holders(cluster, chunk)).toHaveLength(2)
  })

  it("metadata-B59, metadata-B55: full devices are no target, and deletions still work", () => {
    const cluster = setUp()
    const chunk = cluster.write(["a"], { goal: 2 })
    for (const name of ["b", "c"]) cluster.disk(name).capacity = 50
    cluster.rounds(5)
    expect(jobs(cluster)).toEqual([])
    expect(holders(cluster, chunk)).toBe("a")
  })
})

describe("unknown copies", () => {
  const unknown = { fileId: 1, chunkId: 77, version: 3, length: 5, checksum: 5 }

  it("metadata-W23, metadata-I4: kept for the quarantine and until everybody reported", () => {
    const cluster = setUp({ quarantineMs: 50_000, deadAfterMs: 10_000 })
    cluster.file()
    for (let index = 0; index < 3; index++) cluster.write(["a"])
    cluster.store("a", unknown)
    cluster.restartServer("ha")
    cluster.server("hc").alive = false
    cluster.rounds(70)
    expect(cluster.run(status).pending.quarantined).toBe(1)
    expect(cluster.disk("a").copies.has(nameOf(unknown))).toBe(true)
    cluster.restartServer("hc")
    cluster.rounds(4)
    expect(cluster.disk("a").copies.has(nameOf(unknown))).toBe(false)
    expect(cluster.run(status).pending.quarantined).toBe(0)
  })

  it("the quarantine and its age outlive a restart of the service", () => {
    const cluster = setUp({ quarantineMs: 50_000 })
    cluster.file()
    for (let index = 0; index < 3; index++) cluster.write(["a"])
    cluster.store("a", unknown)
    cluster.restartServer("ha")
    cluster.rounds(5)
    cluster.restartService()
    expect(cluster.run(status).pending.quarantined).toBe(1)
    cluster.start()
    expect(cluster.run(status).pending.quarantined).toBe(1)
    cluster.rounds(60)
    expect(cluster.disk("a").copies.has(nameOf(unknown))).toBe(false)
  })

  it("a copy that is gone at the next report leaves the quarantine", () => {
    const cluster = setUp()
    cluster.file()
    for (let index = 0; index < 3; index++) cluster.write(["a"])
    cluster.store("a", unknown)
    cluster.restartServer("ha")
    cluster.rounds(2)
    cluster.disk("a").copies.delete(nameOf(unknown))
    cluster.restartServer("ha")
    cluster.rounds(2)
    expect(cluster.run(status).pending.quarantined).toBe(0)
  })
})
