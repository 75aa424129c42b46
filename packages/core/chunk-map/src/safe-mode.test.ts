import * as Result from "effect/Result"
import { describe, expect, it } from "vitest"
import { free } from "./free.ts"
import { locate } from "./locate.ts"
import { setMode } from "./modes.ts"
import { setSafeMode, viewSafeMode } from "./safe-mode.ts"
import { status } from "./status.ts"
import { Cluster, codeOf, succeed } from "./testing/cluster.ts"
import { recover } from "./recover.ts"
import type { JournalEntry } from "./journal-entry.ts"
import { nameOf } from "./testing/disks.ts"

/**
 * A service that starts with `total` recorded chunks, `lost` of them on a device that never comes.
 */
const starting = (total: number, lost: number, settings = {}) => {
  const cluster = new Cluster({ safeModeThreshold: 0.999, reportPartMax: 1_000_000, ...settings })
  cluster.addServer("h1", "a")
  const entries: Array<JournalEntry> = [{ _tag: "Marks", fileIdLimit: 10, versionLimit: 2_000_000 }]
  const disk = cluster.disk("a")
  for (let index = 0; index < total; index++) {
    const copy = { fileId: 1, chunkId: index, version: index + 1, length: 1, checksum: index }
    entries.push({ _tag: "Committed", ...copy, goal: 1 })
    if (index >= lost) disk.copies.set(nameOf(copy), copy)
  }
  for (const entry of entries) cluster.journal.push(entry)
  cluster.state = recover(cluster.settings, entries, cluster.now)
  return cluster
}

const view = (cluster: Cluster) => cluster.run(viewSafeMode)
const act = (cluster: Cluster, action: "enter" | "leave" | "force") =>
  cluster.run((draft) => setSafeMode(draft, { action }))

describe("metadata-T3, metadata-W3: safe mode by threshold", () => {
  it.each([
    [0, 0, "off"],
    [1, 0, "off"],
    [1, 1, "pending"],
    [999, 0, "off"],
    [999, 1, "pending"],
    [1000, 1, "off"],
    [1000, 2, "pending"],
    [1001, 1, "off"],
    [1001, 2, "pending"]
  ])("of %i recorded chunks %i are nowhere: %s", (total, lost, phase) => {
    const cluster = starting(total, lost)
    expect(view(cluster).phase).toBe("pending")
    cluster.rounds(3)
    expect(view(cluster).phase).toBe(phase)
  })

  it("of 20,000 recorded chunks 21 are nowhere: pending, 20: off", () => {
    const [short, enough] = [starting(20_000, 21), starting(20_000, 20)]
    for (const cluster of [short, enough]) {
      const reply = succeed(cluster.sign("h1"))
      cluster.report("h1", "a", reply.reportsWanted[0]!.lease)
      cluster.pass(10)
    }
    expect([view(short).phase, view(enough).phase]).toEqual(["pending", "off"])
  })

  it("metadata-B1: stays with a device gone for ever, says what is missing, leaves by hand", () => {
    const cluster = starting(407, 17)
    cluster.rounds(5)
    expect(view(cluster)).toMatchObject({
      phase: "pending",
      tip: "reported 390 needs 17 more (0.999 of 407), live devices 1"
    })
    expect(succeed(act(cluster, "leave")).phase).toBe("off")
    expect(cluster.run(status).chunks).toMatchObject({ known: 407, missing: 17, unknown: 0 })
  })

  it("metadata-B9: a number of devices that is never reached is named with its option", () => {
    const cluster = starting(10, 0, { devicesMin: 9 })
    cluster.rounds(3)
    expect(view(cluster).tip).toBe("live devices 1 of 9 (devicesMin), known devices 1")
  })

  it("a deletion or a creation while it is pending moves what is expected", () => {
    const cluster = starting(1000, 2)
    cluster.rounds(2)
    expect(view(cluster).needed).toBe(1)
    const chunks = [0, 1].map((chunkId) => ({ fileId: 1, chunkId, version: chunkId + 1 }))
    succeed(cluster.run((draft) => free(draft, { requestId: null, chunks })))
    cluster.rounds(1)
    expect(view(cluster)).toMatchObject({ phase: "off", expected: 998 })
  })

  it("a dip during the extension begins it anew", () => {
    const cluster = starting(100, 0, { extensionMs: 30_000 })
    cluster.rounds(2)
    expect(view(cluster).phase).toBe("extension")
    expect(view(cluster).tip).toMatch(/safe mode is left in (29|30) seconds$/)
    cluster.restartServer("h1")
    cluster.sign("h1")
    cluster.pass(10)
    expect(view(cluster).phase).toBe("pending")
    cluster.rounds(28)
    expect(view(cluster).phase).toBe("extension")
    cluster.rounds(6)
    expect(view(cluster).phase).toBe("off")
  })

  it("so does one between two ticks: a host that is started again and reports at once", () => {
    const cluster = starting(100, 0, { extensionMs: 30_000 })
    cluster.rounds(22)
    cluster.restartServer("h1")
    cluster.beat("h1")
    cluster.rounds(20)
    expect(view(cluster).phase).toBe("extension")
    cluster.rounds(12)
    expect(view(cluster).phase).toBe("off")
  })

  it("so does a copy that turns out to be gone, or an operator who takes a device out", () => {
    for (const lose of [
      (cluster: Cluster) => {
        const server = cluster.server("h1")
        const [gone] = cluster.disk("a").copies.values()
        if (gone === undefined) throw new Error("the disk is empty")
        cluster.disk("a").copies.delete(nameOf(gone))
        cluster.restartServer("h1")
        cluster.beat(server.hostId)
      },
      (cluster: Cluster) =>
        cluster.run((draft) => setMode(draft, { deviceId: "a", desired: "removed" }))
    ]) {
      const cluster = starting(100, 0, { extensionMs: 30_000, safeModeThreshold: 1 })
      cluster.rounds(3)
      expect(view(cluster).phase).toBe("extension")
      lose(cluster)
      expect(view(cluster).phase).toBe("pending")
    }
  })

  it("entered by hand it stays, whatever is reported, until it is left by hand", () => {
    const cluster = starting(10, 0).start()
    succeed(act(cluster, "enter"))
    cluster.rounds(50)
    expect(view(cluster).phase).toBe("manual")
    expect(codeOf(cluster.alloc(1))).toBe("not-ready")
    succeed(act(cluster, "leave"))
    expect(codeOf(cluster.alloc(1))).toBe("no refusal")
  })
})

describe("what safe mode holds back", () => {
  const three = (settings = {}) => {
    const cluster = new Cluster({ devicesMin: 3, ...settings })
    cluster.addServer("h1", "a")
    cluster.addServer("h2", "b")
    cluster.addServer("h3", "c")
    return cluster.start()
  }

  it("metadata-B6: chunks whose holders have not reported are unknown, not missing", () => {
    const cluster = three()
    const chunk = cluster.write(["a", "b"])
    cluster.restartService()
    cluster.beat("h3")
    cluster.pass(10)
    expect(cluster.run(status).chunks).toMatchObject({ unknown: 1, missing: 0 })
    expect(cluster.run((draft) => locate(draft, chunk))._tag).toBe("NotReady")
    cluster.rounds(2)
    expect(cluster.run((draft) => locate(draft, chunk))._tag).toBe("Found")
  })

  it("metadata-B10: with one of three devices nothing is dead and nothing is repaired", () => {
    const cluster = three({ devicesMin: 2 })
    cluster.write(["a", "b", "c"])
    cluster.restartService()
    for (const host of ["h2", "h3"]) cluster.server(host).alive = false
    cluster.rounds(300)
    expect(cluster.run(status)).toMatchObject({
      devices: { dead: 0 },
      pending: { copies: 0, deletions: 0 }
    })
    expect(cluster.alarms.filter((alarm) => alarm.kind === "device-dead")).toEqual([])
  })

  it("metadata-B11, metadata-I3: deletions that were pending before a restart wait until it is off", () => {
    const cluster = three()
    const chunk = cluster.write(["a", "b"])
    succeed(cluster.run((draft) => free(draft, { requestId: null, chunks: [chunk] })))
    cluster.restartService()
    cluster.server("h3").alive = false
    cluster.rounds(10)
    expect(cluster.disk("a").copies.size).toBe(1)
    cluster.server("h3").alive = true
    cluster.rounds(3)
    expect(cluster.disk("a").copies.size).toBe(0)
  })

  it("metadata-B12: after a restart under load writes go on with the reports", () => {
    const cluster = three()
    const fileId = cluster.file()
    cluster.write(["a", "b"], { fileId })
    cluster.restartService()
    expect(codeOf(cluster.alloc(fileId))).toBe("not-ready")
    cluster.rounds(2)
    expect(codeOf(cluster.alloc(fileId))).toBe("no refusal")
  })

  it("metadata-B8, metadata-B70: an old journal deletes nothing and is left by force only", () => {
    const cluster = three({ quarantineMs: 0 })
    const old = cluster.journal.length
    const files = [cluster.write(["a", "b"]), cluster.write(["b", "c"])]
    cluster.journal.length = old
    cluster.restartService()
    cluster.rounds(20)
    expect(view(cluster)).toMatchObject({ phase: "pending", futureCopies: 4, futureBytes: 400 })
    expect(view(cluster).tip).toContain("only force leaves safe mode")
    const refused = act(cluster, "leave")
    expect(Result.isFailure(refused)).toBe(true)
    expect(["a", "b", "c"].map((name) => cluster.disk(name).copies.size)).toEqual([1, 2, 1])
    succeed(act(cluster, "force"))
    cluster.rounds(10)
    expect(["a", "b", "c"].map((name) => cluster.disk(name).copies.size)).toEqual([1, 2, 1])
    const fileId = cluster.file()
    const next = succeed(cluster.alloc(fileId))
    expect(fileId).toBeGreaterThan(Math.max(...files.map((file) => file.fileId)))
    expect(next.version).toBeGreaterThan(Math.max(...files.map((file) => file.version)))
  })

  it("force lifts the marks a whole block above what was seen, durably", () => {
    const cluster = three()
    const old = cluster.journal.length
    const seen = cluster.write(["a", "b"])
    // Given out by the lost journal, and on no device that reports: leases, a device that is away.
    const unseen = succeed(cluster.alloc(cluster.file()))
    cluster.journal.length = old
    cluster.restartService()
    cluster.rounds(3)
    succeed(act(cluster, "force"))
    cluster.restartService()
    cluster.rounds(3)
    succeed(act(cluster, "force"))
    const fileId = cluster.file()
    const { version } = succeed(cluster.alloc(fileId))
    expect(fileId).toBeGreaterThan(Math.max(seen.fileId + 65_536, unseen.fileId))
    expect(version).toBeGreaterThan(Math.max(seen.version + 65_536, unseen.version))
  })

  it("metadata-B71: twenty restarts leave the same counts", () => {
    const cluster = three()
    for (let index = 0; index < 10; index++) cluster.write(["a", "b"])
    const before = cluster.run(status).chunks
    for (let restart = 0; restart < 20; restart++) {
      cluster.restartService()
      cluster.start()
    }
    expect(cluster.run(status).chunks).toEqual(before)
  })
})
