/** Copies on distinct hosts and racks: where they are placed, mended, and kept. */
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { locate } from "./locate.ts"
import { setMode } from "./modes.ts"
import { mapEntries } from "./ordered-map.ts"
import { status } from "./status.ts"
import { Cluster, succeed } from "./testing/cluster.ts"

/** A cluster of racks, each a list of hosts, each a list of devices. */
type Layout = Readonly<Record<string, Readonly<Record<string, ReadonlyArray<string>>>>>

const build = (layout: Layout, settings = {}) => {
  const cluster = new Cluster(settings)
  for (const [rack, hosts] of Object.entries(layout)) {
    for (const [host, disks] of Object.entries(hosts)) {
      cluster.addServer(host, ...disks).rack = rack
    }
  }
  return cluster.start()
}

const placesOf = (cluster: Cluster, devices: ReadonlyArray<string>) => {
  const servers = [...cluster.servers.values()]
  const homes = devices.map((name) =>
    servers.find(({ disks }) => disks.some(({ deviceId }) => deviceId === name))
  )
  return {
    devices: new Set(devices).size,
    hosts: new Set(homes.map((server) => server?.hostId)).size,
    racks: new Set(homes.map((server) => server?.rack)).size
  }
}

const holders = (cluster: Cluster, chunk: { fileId: number; chunkId: number }) => {
  const where = cluster.run((draft) => locate(draft, chunk))
  return where._tag === "Found" ? [...where.holders].sort() : []
}

const jobs = (cluster: Cluster) => [...mapEntries(cluster.state.copyJobs)].length

const twoRacks: Layout = { r1: { h1: ["a", "b"], h2: ["c"] }, r2: { h3: ["d"] } }

describe("spread of new copies", () => {
  it("metadata-W16: distinct devices always, then hosts, then racks, as far as there are any", () => {
    const layout = fc.array(
      fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 1, maxLength: 3 }),
      { minLength: 1, maxLength: 4 }
    )
    fc.assert(
      fc.property(layout, fc.integer({ min: 1, max: 5 }), (racks, want) => {
        const cluster = new Cluster()
        const names: Array<string> = []
        racks.forEach((hosts, rack) =>
          hosts.forEach((disks, host) => {
            const own = Array.from({ length: disks }, (_one, disk) => `d${rack}-${host}-${disk}`)
            cluster.addServer(`h${rack}-${host}`, ...own).rack = `r${rack}`
            names.push(...own)
          })
        )
        cluster.start()
        const fileId = cluster.file()
        const all = placesOf(cluster, names)
        for (let index = 0; index < 5; index++) {
          const { devices } = succeed(cluster.alloc(fileId, { want, min: 1 }))
          expect(placesOf(cluster, devices)).toEqual({
            devices: Math.min(want, all.devices),
            hosts: Math.min(want, all.hosts),
            racks: Math.min(want, all.racks)
          })
        }
      }),
      { numRuns: 60 }
    )
  })

  it("hosts that name no rack stand in one rack together", () => {
    const cluster = build({ "": { h1: ["a"], h2: ["b"] }, r1: { h3: ["c"] } })
    const fileId = cluster.file()
    for (let index = 0; index < 20; index++) {
      expect(succeed(cluster.alloc(fileId, { want: 2 })).devices).toContain("c")
    }
  })
})

describe("spread of copies that are there", () => {
  it("copies on one host or one rack are spread out, never below the goal", () => {
    const cluster = build(twoRacks)
    const onOneHost = cluster.write(["a", "b"])
    const onOneRack = cluster.write(["a", "c"])
    expect(cluster.run(status).chunks).toMatchObject({ atGoal: 2, badlySpread: 2 })
    for (let round = 0; round < 10; round++) {
      cluster.rounds(1)
      expect(holders(cluster, onOneHost).length).toBeGreaterThanOrEqual(2)
      expect(holders(cluster, onOneRack).length).toBeGreaterThanOrEqual(2)
    }
    for (const chunk of [onOneHost, onOneRack]) {
      expect(placesOf(cluster, holders(cluster, chunk))).toEqual({ devices: 2, hosts: 2, racks: 2 })
    }
    const { chunks, pending } = cluster.run(status)
    expect(chunks).toMatchObject({ atGoal: 2, badlySpread: 0 })
    expect(pending).toMatchObject({ copies: 0, deletions: 0 })
  })

  it("metadata-B48: a dead, frozen or draining device makes no chunk badly spread", () => {
    const cluster = build({ r1: { h1: ["a"], h2: ["b"] }, r2: { h3: ["d"] }, r3: { h4: ["e"] } })
    cluster.server("h3").alive = false
    cluster.rounds(100)
    cluster.run((draft) => setMode(draft, { deviceId: "e", desired: "frozen" }))
    cluster.write(["a", "b"])
    cluster.rounds(3)
    expect(cluster.run(status).chunks).toMatchObject({ atGoal: 1, badlySpread: 0 })
    expect(jobs(cluster)).toBe(0)
    cluster.run((draft) => setMode(draft, { deviceId: "e", desired: "normal" }))
    expect(cluster.run(status).chunks).toMatchObject({ badlySpread: 1 })
  })

  it("a chunk below its goal goes before one that is badly spread", () => {
    const cluster = build(twoRacks, { copiesInMax: 1, copySlotBytes: 1 })
    const bad = cluster.write(["a", "c"])
    const low = cluster.write(["a", "c"], { goal: 3 })
    cluster.pass(10)
    const [first] = [...mapEntries(cluster.state.copyJobs)]
    expect([first?.[1].fileId, first?.[1].chunkId]).toEqual([low.fileId, low.chunkId])
    cluster.rounds(8)
    expect(placesOf(cluster, holders(cluster, bad)).racks).toBe(2)
  })

  it("with no room where it would be better, nothing is done and nothing refused", () => {
    const cluster = build(twoRacks)
    cluster.disk("d").capacity = 50
    cluster.rounds(1)
    cluster.write(["a", "c"])
    cluster.rounds(5)
    expect(cluster.run(status).chunks).toMatchObject({ atGoal: 1, badlySpread: 1 })
    expect(jobs(cluster)).toBe(0)
    expect(succeed(cluster.alloc(cluster.file(), { want: 3 })).devices).toHaveLength(3)
  })

  it("metadata-B20: a surplus copy goes where the spread can spare it, whatever room says", () => {
    const cluster = build(twoRacks)
    cluster.disk("d").capacity = 1_000
    cluster.rounds(1)
    const chunk = cluster.write(["a", "c"])
    cluster.store("d", chunk)
    cluster.server("h3").changes.push({ _tag: "Added", deviceId: "d", epoch: 1, chunk })
    cluster.rounds(4)
    expect(holders(cluster, chunk)).toContain("d")
    expect(placesOf(cluster, holders(cluster, chunk))).toEqual({ devices: 2, hosts: 2, racks: 2 })
  })

  it("ends: whatever the racks and copies, spreading comes to rest at its best", () => {
    const rack = fc.constantFrom("", "r1", "r2", "r3")
    const names = ["a", "b", "c", "d", "e", "f"]
    const setting = fc.record({
      racks: fc.array(rack, { minLength: 3, maxLength: 3 }),
      chunks: fc.array(fc.subarray(names, { minLength: 1, maxLength: 4 }), {
        minLength: 1,
        maxLength: 8
      })
    })
    fc.assert(
      fc.property(setting, ({ racks, chunks }) => {
        const cluster = new Cluster()
        racks.forEach((one, index) => {
          const disks = names.slice(index * 2, index * 2 + 2)
          cluster.addServer(`h${index}`, ...disks).rack = one
        })
        cluster.start()
        const all = placesOf(cluster, names)
        const written = chunks.map((on) => ({ on, chunk: cluster.write(on) }))
        cluster.rounds(20)
        expect(cluster.run(status)).toMatchObject({
          chunks: { atGoal: written.length, badlySpread: 0, surplus: 0, belowGoal: 0 },
          pending: { copies: 0, deletions: 0 }
        })
        for (const { on, chunk } of written) {
          const { hosts, racks: used } = placesOf(cluster, holders(cluster, chunk))
          expect(hosts).toBe(Math.min(on.length, all.hosts))
          expect(used).toBe(Math.min(on.length, all.racks))
        }
      }),
      { numRuns: 60 }
    )
  })
})
