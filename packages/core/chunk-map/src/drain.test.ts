/** Draining: what keeps a device, in words, and that nothing else does. */
import { describe, expect, it } from "vitest"
import { drainBlockers } from "./drain.ts"
import { forgetDevice } from "./forget-device.ts"
import { free } from "./free.ts"
import { locate } from "./locate.ts"
import { setMode } from "./modes.ts"
import { mapEntries } from "./ordered-map.ts"
import { abandon } from "./publish.ts"
import { setSafeMode } from "./safe-mode.ts"
import { listDevices, status } from "./status.ts"
import { chunkOf, Cluster, codeOf, succeed } from "./testing/cluster.ts"

const setUp = (names: ReadonlyArray<string>, settings = {}) => {
  const cluster = new Cluster(settings)
  for (const name of names) cluster.addServer(`h${name}`, name)
  return cluster.start()
}

const drain = (cluster: Cluster, deviceId: string) =>
  succeed(cluster.run((draft) => setMode(draft, { deviceId, desired: "draining" })))

const viewOf = (cluster: Cluster, deviceId: string) =>
  cluster
    .run((draft) => listDevices(draft, { after: null, limit: 100 }))
    .devices.find(({ device }) => device.deviceId === deviceId)

const modeOf = (cluster: Cluster, deviceId: string) => viewOf(cluster, deviceId)?.device.desired

const holders = (cluster: Cluster, chunk: { fileId: number; chunkId: number }) => {
  const where = cluster.run((draft) => locate(draft, chunk))
  return where._tag === "Found" ? [...where.holders].sort().join("") : where._tag
}

const blockers = (cluster: Cluster, deviceId: string, limit = 100) =>
  succeed(cluster.run((draft) => drainBlockers(draft, { deviceId, after: null, limit })))

const reasons = (cluster: Cluster, deviceId: string) =>
  blockers(cluster, deviceId).blockers.map(({ chunkId, reason }) => `${chunkId} ${reason}`)

describe("what keeps a draining device", () => {
  it("metadata-B47: each chunk is named with its reason, one that is being deleted is not", () => {
    const cluster = setUp(["a", "b", "c"])
    const fileId = cluster.file()
    const bad = cluster.write(["a"], { fileId, goal: 1 })
    cluster.server("ha").changes.push({ _tag: "Bad", deviceId: "a", epoch: 1, chunk: bad })
    cluster.beat("ha")
    cluster.write(["a", "b", "c"], { fileId })
    const deleted = cluster.write(["a", "b"], { fileId })
    const open = succeed(cluster.alloc(fileId, { want: 3, size: 0 }))
    cluster.write(["a", "b"], { fileId })
    for (const name of ["a", "b", "c"]) cluster.server(`h${name}`).holdCommands = true
    succeed(cluster.run((draft) => free(draft, { requestId: null, chunks: [deleted] })))
    expect(succeed(drainOutcome(cluster, "a"))).toMatchObject({ belowGoal: 3 })
    cluster.pass(10)
    expect(reasons(cluster, "a")).toEqual([
      "0 last-copy",
      "1 no-device-takes-it",
      "3 being-written",
      "4 copying"
    ])
    cluster.rounds(8)
    expect(modeOf(cluster, "a")).toBe("draining")
    expect(viewOf(cluster, "a")?.blocked).toBe(2)
    // All but the deletions, which nobody carries out, are seen to; the device goes.
    cluster.addServer("hd", "d")
    for (const name of ["b", "c"]) cluster.server(`h${name}`).holdCommands = false
    cluster.run((draft) => abandon(draft, { leaseId: open.leaseId }))
    succeed(cluster.run((draft) => free(draft, { requestId: null, chunks: [bad] })))
    cluster.rounds(12)
    expect(reasons(cluster, "a")).toEqual([])
    expect(modeOf(cluster, "a")).toBe("removed")
    expect(cluster.run(status).chunks).toMatchObject({ atGoal: 2, missing: 0, belowGoal: 0 })
  })

  it("pages name everything once", () => {
    const cluster = setUp(["a", "b"])
    const fileId = cluster.file()
    for (let index = 0; index < 10; index++) cluster.write(["a", "b"], { fileId })
    for (let index = 0; index < 3; index++) cluster.alloc(fileId, { chunkId: 4, want: 2 })
    drain(cluster, "a")
    const seen: Array<string> = []
    let after: { fileId: number; chunkId: number } | null = null
    do {
      const page = succeed(
        cluster.run((draft) => drainBlockers(draft, { deviceId: "a", after, limit: 3 }))
      )
      seen.push(...page.blockers.map(({ chunkId, reason }) => `${chunkId} ${reason}`))
      after = page.next
    } while (after !== null)
    const all = reasons(cluster, "a")
    expect(all).toHaveLength(13)
    expect(seen).toEqual(all)
  })

  it("says so when repair is held", () => {
    const cluster = setUp(["a", "b", "c"], { repairDelayMs: 20_000 })
    cluster.write(["a", "b"], { fileId: cluster.file() })
    drain(cluster, "a")
    expect(reasons(cluster, "a")).toEqual(["0 repair-not-yet"])
    succeed(cluster.run((draft) => setSafeMode(draft, { action: "enter" })))
    expect(reasons(cluster, "a")).toEqual(["0 safe-mode"])
    expect(
      codeOf(cluster.run((draft) => drainBlockers(draft, { deviceId: "z", after: null, limit: 1 })))
    ).toBe("unknown-device")
  })
})

const drainOutcome = (cluster: Cluster, deviceId: string) =>
  cluster.run((draft) => setMode(draft, { deviceId, desired: "draining" }))

describe("drains end", () => {
  it("metadata-W8, metadata-B46: draining copies off, waits for leases, then removes", () => {
    const cluster = setUp(["a", "b", "c"])
    const fileId = cluster.file()
    const chunks = Array.from({ length: 20 }, () => cluster.write(["a", "b"], { fileId }))
    const open = succeed(cluster.alloc(fileId, { want: 3 }))
    drain(cluster, "a")
    cluster.rounds(20)
    expect(chunks.every((chunk) => holders(cluster, chunk) === "abc")).toBe(true)
    for (const device of ["a", "b"]) {
      const { version, chunkId } = open
      cluster.store(device, {
        fileId,
        chunkId,
        version,
        length: 100,
        checksum: (version * 2654435761) >>> 0
      })
    }
    succeed(cluster.publish(open, ["a", "b"]))
    cluster.rounds(10)
    expect(modeOf(cluster, "a")).toBe("removed")
    expect(holders(cluster, open)).toBe("bc")
    expect(cluster.run(status).chunks).toMatchObject({ atGoal: 21, missing: 0 })
  })

  it("metadata-B45: a drain without enough devices left waits and loses nothing", () => {
    const cluster = new Cluster()
    cluster.addServer("h1", "a")
    cluster.addServer("h2", "b")
    cluster.start()
    const chunk = cluster.write(["a", "b"])
    drain(cluster, "a")
    cluster.rounds(20)
    expect(modeOf(cluster, "a")).toBe("draining")
    expect(holders(cluster, chunk)).toBe("ab")
  })

  it("metadata-B46: not while a lease of no bytes is open, and what it wrote is kept", () => {
    const cluster = setUp(["a", "b", "c"])
    const fileId = cluster.file()
    const open = succeed(cluster.alloc(fileId, { want: 3, size: 100 }))
    const empty = succeed(cluster.alloc(fileId, { want: 3, size: 0 }))
    drain(cluster, "a")
    cluster.rounds(10)
    expect(modeOf(cluster, "a")).toBe("draining")
    for (const name of ["a", "b"]) cluster.store(name, chunkOf(open))
    succeed(cluster.publish(open, ["a", "b"]))
    cluster.rounds(10)
    expect(reasons(cluster, "a")).toEqual(["1 being-written"])
    cluster.run((draft) => abandon(draft, { leaseId: empty.leaseId }))
    cluster.rounds(5)
    expect(modeOf(cluster, "a")).toBe("removed")
    cluster.server("ha").alive = false
    expect(holders(cluster, open)).toBe("bc")
  })

  it("metadata-B17: a copy that was surplus when the drain began is wanted again", () => {
    for (const isTold of [false, true]) {
      const cluster = setUp(["a", "b", "c", "d"])
      const chunk = cluster.write(["a", "b", "c"])
      cluster.store("d", chunk)
      cluster.server("hd").changes.push({ _tag: "Added", deviceId: "d", epoch: 1, chunk })
      cluster.sign("hd")
      for (const name of ["a", "b", "c", "d"]) cluster.server(`h${name}`).holdCommands = true
      cluster.pass(10)
      const [victim] = [...mapEntries(cluster.state.deletions)].map(
        ([key]) => cluster.state.deviceNames[key.device]!
      )
      if (isTold) cluster.beat(`h${victim}`)
      const drained = ["a", "b", "c"].find((name) => name !== victim)!
      drain(cluster, drained)
      for (const name of ["a", "b", "c", "d"]) cluster.server(`h${name}`).holdCommands = false
      cluster.rounds(12, cluster.settings.commandResendMs)
      expect(modeOf(cluster, drained)).toBe("removed")
      const left = ["a", "b", "c", "d"].filter((name) => name !== drained).join("")
      expect(holders(cluster, chunk)).toBe(left)
    }
  })

  it("metadata-B45: a server that dies in the middle makes the drain wait, not lose", () => {
    const cluster = setUp(["a", "b", "c"], { deadAfterMs: 10_000, staleAfterMs: 4_000 })
    const fileId = cluster.file()
    const chunks = Array.from({ length: 10 }, () => cluster.write(["a", "b"], { fileId }))
    cluster.server("hc").holdCommands = true
    drain(cluster, "a")
    cluster.rounds(3)
    cluster.server("hb").alive = false
    cluster.server("hc").held = []
    cluster.server("hc").holdCommands = false
    cluster.rounds(5)
    expect(reasons(cluster, "a")[0]).toBe("0 silent-holder")
    cluster.rounds(100)
    for (const chunk of chunks) expect(holders(cluster, chunk)).toMatch("ac")
    expect(modeOf(cluster, "a")).toBe("draining")
    expect(reasons(cluster, "a")[0]).toBe("0 no-device-takes-it")
    cluster.restartServer("hb")
    cluster.rounds(20)
    expect(modeOf(cluster, "a")).toBe("removed")
    for (const chunk of chunks) expect(holders(cluster, chunk)).toBe("bc")
  })

  it("metadata-B45: a device that dies in its drain stays while of a chunk no copy is left", () => {
    const cluster = setUp(["a", "b"])
    const chunk = cluster.write(["a"], { goal: 1 })
    cluster.server("hb").holdCommands = true
    drain(cluster, "a")
    cluster.rounds(2)
    cluster.server("ha").alive = false
    cluster.rounds(200)
    expect(viewOf(cluster, "a")?.device.liveness).toBe("dead")
    expect(modeOf(cluster, "a")).toBe("draining")
    expect(reasons(cluster, "a")).toEqual(["0 missing"])
    cluster.server("hb").holdCommands = false
    cluster.restartServer("ha")
    cluster.rounds(60)
    expect(modeOf(cluster, "a")).toBe("removed")
    expect(holders(cluster, chunk)).toBe("b")
  })

  it("and goes when others hold all of it", () => {
    const cluster = setUp(["a", "b", "c"])
    const chunk = cluster.write(["a", "b"])
    cluster.server("ha").alive = false
    drain(cluster, "a")
    cluster.rounds(200)
    expect(modeOf(cluster, "a")).toBe("removed")
    expect(holders(cluster, chunk)).toBe("bc")
  })

  it("metadata-B49: it goes on with what is there while other devices are away", () => {
    const cluster = setUp(["a", "b", "c", "d", "e"])
    const chunk = cluster.write(["a", "b"])
    for (const name of ["d", "e"]) cluster.server(`h${name}`).alive = false
    cluster.rounds(20)
    drain(cluster, "a")
    cluster.rounds(10)
    expect(modeOf(cluster, "a")).toBe("removed")
    expect(holders(cluster, chunk)).toBe("bc")
  })

  it("the rest of a pass that began before the drain is no proof", () => {
    const cluster = setUp(["a", "b", "c"], { sweepChunks: 3 })
    const fileId = cluster.file()
    const chunks = Array.from({ length: 12 }, () => cluster.write(["a", "b"], { fileId }))
    cluster.rounds(2)
    cluster.server("hc").holdCommands = true
    drain(cluster, "a")
    for (let round = 0; round < 20; round++) {
      cluster.rounds(1)
      expect(modeOf(cluster, "a")).toBe("draining")
    }
    cluster.server("hc").holdCommands = false
    for (const command of cluster.server("hc").held) {
      cluster.carryOut(cluster.server("hc"), command)
    }
    cluster.rounds(40)
    expect(modeOf(cluster, "a")).toBe("removed")
    for (const chunk of chunks) expect(holders(cluster, chunk)).toBe("bc")
  })

  it("a thaw ends the drain, and a later one begins anew", () => {
    const cluster = setUp(["a", "b"])
    cluster.write(["a", "b"])
    drain(cluster, "a")
    cluster.rounds(3)
    succeed(cluster.run((draft) => setMode(draft, { deviceId: "a", desired: "normal" })))
    cluster.rounds(10)
    expect(modeOf(cluster, "a")).toBe("normal")
    expect(cluster.run(status).chunks).toMatchObject({ atGoal: 1 })
  })
})

describe("a wish that comes again, late", () => {
  const modes = ["normal", "frozen", "draining", "removed"] as const

  it("metadata-W43: brings nothing back that includes it; only `normal` does", () => {
    for (const [before, wanted] of modes.entries()) {
      for (const [late, repeated] of modes.entries()) {
        const cluster = setUp(["a", "b", "c"])
        const wish = (desired: (typeof modes)[number]) =>
          succeed(cluster.run((draft) => setMode(draft, { deviceId: "a", desired })))
        wish(wanted)
        wish(repeated)
        const expected = late === 0 ? "normal" : modes[Math.max(before, late)]
        expect(modeOf(cluster, "a"), `${repeated} after ${wanted}`).toBe(expected)
      }
    }
  })

  it("a drain that is asked for again when it is done is done", () => {
    const cluster = setUp(["a", "b", "c"])
    const chunk = cluster.write(["a", "b"])
    drain(cluster, "a")
    cluster.rounds(20)
    drain(cluster, "a")
    cluster.rounds(1)
    expect(modeOf(cluster, "a")).toBe("removed")
    expect(holders(cluster, chunk)).toBe("bc")
  })
})

describe("forgetting", () => {
  const forget = (cluster: Cluster, deviceId: string) =>
    cluster.run((draft) => forgetDevice(draft, { deviceId }))

  it("metadata-W13: only a device that was taken out and is served no more", () => {
    const cluster = setUp(["a", "b", "c"])
    const chunk = cluster.write(["a", "b"])
    expect(codeOf(forget(cluster, "a"))).toBe("device-in-use")
    succeed(cluster.run((draft) => setMode(draft, { deviceId: "a", desired: "removed" })))
    cluster.rounds(20)
    expect(codeOf(forget(cluster, "a"))).toBe("device-in-use")
    cluster.server("ha").alive = false
    cluster.rounds(100)
    expect(codeOf(forget(cluster, "a"))).toBe("no refusal")
    expect(codeOf(forget(cluster, "a"))).toBe("unknown-device")
    cluster.restartService()
    cluster.start()
    expect(viewOf(cluster, "a")).toBeUndefined()
    expect(cluster.run(status).hosts).toEqual({ live: 2, dead: 0 })
    // A device of this name is a new one: it reports, and what is too much of it goes.
    cluster.restartServer("ha")
    cluster.rounds(10)
    expect(viewOf(cluster, "a")?.state).toBe("online")
    expect(holders(cluster, chunk)).toHaveLength(2)
    expect(cluster.run(status)).toMatchObject({ chunks: { atGoal: 1 }, pending: { deletions: 0 } })
  })
})
