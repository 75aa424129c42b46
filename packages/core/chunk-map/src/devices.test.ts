import { describe, expect, it } from "vitest"
import { openDraft } from "./draft.ts"
import { forgetDevice } from "./forget-device.ts"
import { free } from "./free.ts"
import { DeviceId } from "./identity.ts"
import { listChunks, locate } from "./locate.ts"
import { setMode } from "./modes.ts"
import { listDevices, status } from "./status.ts"
import { takeReport } from "./report.ts"
import { chunkOf, Cluster, codeOf, succeed } from "./testing/cluster.ts"

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

const devices = (cluster: Cluster) =>
  cluster
    .run((draft) => listDevices(draft, { after: null, limit: 100 }))
    .devices.map(({ device, state }) => `${device.deviceId} ${state}`)

describe("hosts and devices", () => {
  it("metadata-W2: a heartbeat of an unknown device asks for its report, no more", () => {
    const cluster = new Cluster()
    cluster.addServer("h1", "a")
    const reply = succeed(cluster.sign("h1"))
    expect(reply.reportsWanted).toMatchObject([{ deviceId: "a" }])
    expect(devices(cluster)).toEqual(["a registering"])
    cluster.rounds(2)
    expect(devices(cluster)).toEqual(["a online"])
  })

  it("metadata-W26, metadata-W27: the address is an attribute: a new one is taken", () => {
    const cluster = setUp()
    cluster.restartServer("h1")
    cluster.server("h1").url = "http://elsewhere"
    cluster.rounds(2)
    const page = cluster.run((draft) => listDevices(draft, { after: null, limit: 1 }))
    expect(page).toMatchObject({
      devices: [{ url: "http://elsewhere", state: "online" }],
      more: true
    })
  })

  it("metadata-W6: offline takes copies out at once and names what is below goal", () => {
    const cluster = setUp()
    const chunk = cluster.write(["a", "b"])
    const outcome = cluster.run((draft) => setMode(draft, { deviceId: "a", desired: "removed" }))
    expect(succeed(outcome)).toEqual({ belowGoal: 1 })
    expect(holders(cluster, chunk)).toBe("b")
    const reply = succeed(cluster.sign("h1"))
    expect(reply.refused).toMatchObject([{ deviceId: "a" }])
    expect(reply.reportsWanted).toEqual([])
    cluster.restartService()
    expect(succeed(cluster.sign("h1")).refused).toHaveLength(1)
  })

  it("metadata-W30: a dead device must report again before its copies count", () => {
    const cluster = setUp()
    const chunk = cluster.write(["a"], { goal: 1 })
    cluster.server("h1").alive = false
    cluster.rounds(100)
    expect(holders(cluster, chunk)).toBe("Missing")
    const reply = succeed(cluster.sign("h1"))
    expect(holders(cluster, chunk)).toBe("NotReady")
    cluster.report("h1", "a", reply.reportsWanted[0]!.lease)
    expect(holders(cluster, chunk)).toBe("a")
  })

  it("metadata-W31: what a restarted chunk server lost leaves the map with its report", () => {
    const cluster = setUp()
    const kept = cluster.write(["a", "b"])
    const lost = cluster.write(["a", "b"])
    cluster.disk("a").copies.delete(`${lost.fileId}/${lost.chunkId}@${lost.version}`)
    cluster.restartServer("h1")
    cluster.beat("h1")
    expect([holders(cluster, kept), holders(cluster, lost)]).toEqual(["ab", "b"])
  })

  it("metadata-W30: a digest that differs twice in a row asks for a report", () => {
    const cluster = setUp()
    const chunk = cluster.write(["a", "b"])
    cluster.rounds(2)
    cluster.disk("a").copies.clear()
    expect(succeed(cluster.sign("h1")).reportsWanted).toEqual([])
    const reply = cluster.beat("h1")
    expect(reply.reportsWanted).toHaveLength(1)
    expect(holders(cluster, chunk)).toBe("b")
    expect(succeed(cluster.sign("h1")).reportsWanted).toEqual([])
  })

  it("a device in doubt is told no deletion before its report", () => {
    const cluster = setUp()
    const chunk = cluster.write(["a", "b"])
    cluster.store("a", { ...chunk, chunkId: 9, version: 1 })
    cluster.sign("h1")
    succeed(cluster.run((draft) => free(draft, { requestId: null, chunks: [chunk] })))
    cluster.sign("h1")
    cluster.pass(cluster.settings.commandResendMs)
    const doubted = succeed(cluster.sign("h1"))
    expect(doubted.reportsWanted).toHaveLength(1)
    expect(doubted.commands).toEqual([])
    cluster.report("h1", "a", doubted.reportsWanted[0]!.lease)
    cluster.rounds(7)
    expect([...cluster.disk("a").copies.values()].map(({ chunkId }) => chunkId)).toEqual([9])
  })

  it("metadata-W29, metadata-B76, metadata-I12: of two copies of a device only one is served", () => {
    const cluster = setUp()
    const chunk = cluster.write(["a"], { goal: 1 })
    const twin = cluster.addServer("h9", "a")
    twin.disks[0]!.epoch = 50
    const refused = succeed(cluster.sign("h9"))
    expect(refused.refused[0]!.reason).toBe("device a is live on host h1; host h9 claims it too")
    expect(cluster.alarms.map((alarm) => alarm.kind)).toContain("device-claimed-twice")
    expect(holders(cluster, chunk)).toBe("a")
    cluster.servers.delete("h9")
    cluster.server("h1").alive = false
    cluster.rounds(100)
    cluster.servers.set("h9", twin)
    twin.disks[0]!.epoch = 1
    expect(succeed(cluster.sign("h9")).refused).toHaveLength(1)
    twin.disks[0]!.epoch = 2
    expect(succeed(cluster.sign("h9")).reportsWanted).toHaveLength(1)
    expect(succeed(cluster.sign("h1")).refused).toHaveLength(1)
  })

  it("metadata-W29, metadata-W26: which host served a device outlives a restart", () => {
    const cluster = setUp({ deadAfterMs: 20_000 })
    const chunk = cluster.write(["a"], { goal: 1 })
    cluster.restartService()
    const twin = cluster.addServer("h9", "a")
    twin.disks[0]!.epoch = 50
    const early = succeed(cluster.sign("h9"))
    expect(early.refused[0]!.reason).toBe(
      "device a is expected back on host h1; host h9 claims it too"
    )
    cluster.servers.delete("h9")
    cluster.rounds(3)
    expect(holders(cluster, chunk)).toBe("a")
    // The machine is gone for good and the disk moves: taken once the first host had its time.
    cluster.server("h1").alive = false
    cluster.restartService()
    cluster.servers.set("h9", twin)
    cluster.now += 20_000
    expect(succeed(cluster.sign("h9")).reportsWanted).toHaveLength(1)
  })

  it("metadata-W6: what an older process or epoch says is refused", () => {
    const cluster = setUp()
    cluster.restartServer("h1")
    cluster.rounds(1)
    cluster.server("h1").incarnation = 1
    expect(codeOf(cluster.sign("h1"))).toBe("stale-incarnation")
    cluster.server("h1").incarnation = 3
    cluster.disk("a").epoch = 1
    expect(succeed(cluster.sign("h1")).refused[0]!.reason).toContain("epoch 2")
  })

  it("metadata-B50: a goodbye counts the copies out at once", () => {
    const cluster = setUp()
    const chunk = cluster.write(["a", "b"])
    succeed(cluster.sign("h1", true))
    expect(holders(cluster, chunk)).toBe("b")
    cluster.restartServer("h1")
    cluster.rounds(3)
    expect(holders(cluster, chunk)).toBe("ab")
    expect(cluster.run(status).pending.copies).toBe(0)
  })

  it("metadata-I13, metadata-W33: a pause of the service itself kills nobody", () => {
    const cluster = setUp({ stallMs: 10_000 })
    cluster.pass(1_000_000)
    expect(devices(cluster)).toEqual(["a online", "b online", "c online"])
    expect(cluster.alarms.map((alarm) => alarm.kind)).toEqual(["stalled"])
    cluster.rounds(3)
    expect(devices(cluster)).toEqual(["a online", "b online", "c online"])
  })

  it("metadata-B84: time that seems to go back changes nothing", () => {
    const cluster = setUp()
    cluster.now -= 500
    cluster.run(status)
    expect(cluster.state.now).toBeGreaterThan(cluster.now)
  })

  it("metadata-W34: a mass death stops repair until they are back", () => {
    const cluster = new Cluster({ massDeathRatio: 0.25 })
    for (const name of ["a", "b", "c", "d", "e"]) cluster.addServer(`h${name}`, name)
    cluster.start()
    cluster.write(["a", "b", "c"])
    for (const name of ["a", "b"]) cluster.server(`h${name}`).alive = false
    cluster.rounds(100)
    expect(cluster.alarms.map((alarm) => alarm.kind)).toContain("mass-death")
    expect(cluster.run(status).pending.copies).toBe(0)
    cluster.server("ha").alive = true
    cluster.rounds(5)
    expect(cluster.run(status).chunks).toMatchObject({ atGoal: 1 })
  })
  it("metadata-B77: a host keeps its name whatever disk it has; the old disk can be let go", () => {
    const cluster = setUp()
    const chunk = cluster.write(["a", "b"])
    const server = cluster.server("h1")
    server.disks.splice(0, 1, {
      ...server.disks[0]!,
      deviceId: DeviceId.make("a2"),
      copies: new Map()
    })
    cluster.restartServer("h1")
    cluster.rounds(100)
    expect(devices(cluster)).toEqual(["a dead", "a2 online", "b online", "c online"])
    expect(cluster.run(status).hosts).toEqual({ live: 3, dead: 0 })
    expect(holders(cluster, chunk)).toMatch(/^(a2b|bc)$/)
    succeed(cluster.run((draft) => setMode(draft, { deviceId: "a", desired: "removed" })))
    succeed(cluster.run((draft) => forgetDevice(draft, { deviceId: "a" })))
    expect(devices(cluster)).toEqual(["a2 online", "b online", "c online"])
  })

  it("metadata-W7: a device is taken out by one mark; its chunks are seen to in slices", () => {
    const cluster = setUp({ sweepChunks: 160, repairDelayMs: 1_000_000 })
    const fileId = cluster.file()
    for (let index = 0; index < 100; index++) cluster.write(["a", "b"], { fileId })
    const { chunks } = cluster.state
    cluster.run((draft) => setMode(draft, { deviceId: "a", desired: "removed" }))
    expect(cluster.state.chunks).toBe(chunks)
    expect(cluster.run(status).chunks).toMatchObject({ belowGoal: 100 })
    const marked = () =>
      listChunks(openDraft(cluster.state, cluster.now), { fileId, after: -1, limit: 100 }).chunks
    const setsBefore = marked().map(({ record }) => record.set)
    for (let tick = 1; tick <= 10; tick++) {
      cluster.pass(10)
      const moved = marked().filter(({ record }, index) => record.set !== setsBefore[index])
      expect(moved).toHaveLength(tick * 10)
    }
  })
})

describe("modes", () => {
  it("metadata-W20, metadata-I16: frozen is durable, takes no new chunk, and thaws", () => {
    const cluster = setUp()
    succeed(cluster.run((draft) => setMode(draft, { deviceId: "a", desired: "frozen" })))
    cluster.restartService()
    cluster.start()
    const fileId = cluster.file()
    for (let index = 0; index < 20; index++) {
      expect(succeed(cluster.alloc(fileId)).devices).not.toContain("a")
    }
    succeed(cluster.run((draft) => setMode(draft, { deviceId: "a", desired: "normal" })))
    expect(succeed(cluster.alloc(fileId, { want: 3 })).devices).toContain("a")
    expect(
      codeOf(cluster.run((draft) => setMode(draft, { deviceId: "zz", desired: "frozen" })))
    ).toBe("unknown-device")
  })
})

describe("reports", () => {
  const restarted = (settings = {}) => {
    const cluster = setUp({ reportPartMax: 10, ...settings })
    for (let index = 0; index < 25; index++) cluster.write(["a", "b"])
    cluster.restartServer("h1")
    const wanted = succeed(cluster.sign("h1")).reportsWanted[0]!
    const copies = [...cluster.disk("a").copies.values()]
    const send = (part: number, options: object = {}) =>
      cluster.run((draft) =>
        takeReport(draft, {
          hostId: "h1",
          incarnation: 2,
          deviceId: "a",
          epoch: 2,
          lease: wanted.lease,
          reportId: "r1",
          part,
          last: part === 2,
          copies: copies.slice(part * 10, (part + 1) * 10),
          ...options
        })
      )
    return { cluster, send }
  }

  it("metadata-W28: parts are idempotent, a gap is refused, the last one completes", () => {
    const { cluster, send } = restarted()
    expect(succeed(send(0))).toEqual({ accepted: 10, complete: false })
    expect(codeOf(send(2))).toBe("out-of-order")
    expect(succeed(send(0))).toEqual({ accepted: 10, complete: false })
    succeed(send(1))
    expect(devices(cluster)).toContain("a registering")
    expect(succeed(send(2)).complete).toBe(true)
    expect(succeed(send(2)).complete).toBe(true)
    expect(devices(cluster)).toContain("a online")
    expect(cluster.run(status).chunks).toMatchObject({ atGoal: 25 })
  })

  it("digests are right in the middle of a report of a device that serves", () => {
    const cluster = setUp({ reportPartMax: 1, quarantineMs: 1e9 })
    const old = cluster.write(["a", "b"])
    cluster.server("h1").holdCommands = true
    // Stale, with a deletion that waits or is told; unknown; and good.
    const open = succeed(cluster.alloc(old.fileId, { chunkId: old.chunkId }))
    for (const name of ["a", "b"]) cluster.store(name, chunkOf(open))
    succeed(cluster.publish(open, ["a", "b"]))
    cluster.store("a", { ...old, chunkId: 9 })
    cluster.rounds(4)
    cluster.store("a", { ...old, chunkId: 8 })
    // Every part of every report is judged by the invariants as it is taken.
    cluster.rounds(4)
    expect(cluster.run(status).pending).toMatchObject({ quarantined: 2, deletions: 1 })
    cluster.server("h1").holdCommands = false
    cluster.rounds(200)
    expect(cluster.run(status).pending).toMatchObject({ quarantined: 2, deletions: 0 })
    expect(cluster.disk("a").copies.size).toBe(3)
  })

  it("a copy that is freed between two parts of a report that names it is deleted", () => {
    const { cluster, send } = restarted()
    const [freed] = cluster.disk("a").copies.values()
    succeed(send(0))
    succeed(cluster.run((draft) => free(draft, { requestId: null, chunks: [freed!] })))
    succeed(send(1))
    succeed(send(2))
    cluster.rounds(5)
    expect(cluster.disk("a").copies.size).toBe(24)
    expect(cluster.run(status).pending).toMatchObject({ freed: 0, deletions: 0 })
  })

  it("metadata-B3, metadata-B4: an expired lease is said so; a heartbeat brings another", () => {
    const { cluster, send } = restarted()
    succeed(send(0))
    cluster.pass(cluster.settings.reportLeaseMs)
    expect(codeOf(send(1))).toBe("lease-expired")
    cluster.beat("h1")
    expect(devices(cluster)).toContain("a online")
  })

  it("metadata-B3: a lease of the service's last life is over", () => {
    const { cluster, send } = restarted()
    succeed(send(0))
    cluster.restartService()
    succeed(cluster.sign("h1"))
    expect(codeOf(send(0))).toBe("lease-expired")
  })

  it("metadata-B5: a second report of the same epoch is refused cheaply", () => {
    const { cluster, send } = restarted()
    for (const part of [0, 1, 2]) succeed(send(part))
    const before = cluster.state
    expect(codeOf(send(0, { reportId: "r2" }))).toBe("lease-expired")
    expect(cluster.state.chunks).toBe(before.chunks)
  })

  it("metadata-W44: only so many devices report at a time", () => {
    const cluster = new Cluster({ reportsMax: 2 })
    for (const name of ["a", "b", "c", "d"]) cluster.addServer(`h${name}`, name)
    const granted = ["a", "b", "c", "d"].map(
      (name) => succeed(cluster.sign(`h${name}`)).reportsWanted.length
    )
    expect(granted).toEqual([1, 1, 0, 0])
    cluster.rounds(4)
    expect(devices(cluster).every((one) => one.endsWith("online"))).toBe(true)
  })

  it("refuses a part of another host, epoch, process or size", () => {
    const { send } = restarted()
    expect(codeOf(send(0, { hostId: "h2" }))).toBe("device-live-elsewhere")
    expect(codeOf(send(0, { incarnation: 1 }))).toBe("stale-incarnation")
    expect(codeOf(send(0, { epoch: 1 }))).toBe("stale-epoch")
    expect(codeOf(send(0, { deviceId: "zz" }))).toBe("unknown-device")
    expect(codeOf(send(0, { lease: 1 }))).toBe("lease-expired")
    const copy = { fileId: 1, chunkId: 1, version: 1, length: 1, checksum: 1 }
    expect(codeOf(send(0, { copies: Array.from({ length: 11 }, () => copy) }))).toBe(
      "invalid-request"
    )
  })

  it("metadata-W32: a device may hold two versions; the old one goes in the end", () => {
    const cluster = setUp()
    const old = cluster.write(["a", "b"])
    const { fileId, chunkId } = old
    cluster.write(["a", "b"], { fileId, chunkId })
    cluster.restartServer("h1")
    cluster.rounds(4)
    expect([cluster.disk("a").copies.size, cluster.disk("b").copies.size]).toEqual([1, 1])
  })
})
