/** Few sets of devices: how many at most, that they keep the spread, and what a change moves. */
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { candidates } from "./devices.ts"
import { locate } from "./locate.ts"
import { placementSet } from "./placement.ts"
import { advance, newCursor, rowRecord, seekFrom } from "./packed-tree.ts"
import { Cluster, succeed } from "./testing/cluster.ts"

/** Racks of hosts, each with so many devices. */
const layout = fc.array(fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 1, maxLength: 4 }), {
  minLength: 1,
  maxLength: 4
})

const build = (racks: ReadonlyArray<ReadonlyArray<number>>, settings = {}) => {
  const cluster = new Cluster(settings)
  racks.forEach((hosts, rack) =>
    hosts.forEach((disks, host) => {
      const names = Array.from({ length: disks }, (_one, disk) => `d${rack}-${host}-${disk}`)
      cluster.addServer(`h${rack}-${host}`, ...names).rack = `r${rack}`
    })
  )
  return cluster.start()
}

const draw = (cluster: Cluster, count: number, want: number) => {
  const fileId = cluster.file()
  return Array.from(
    { length: count },
    () => succeed(cluster.alloc(fileId, { want, size: 1 })).devices
  )
}

const distinct = (sets: ReadonlyArray<ReadonlyArray<string>>): number =>
  new Set(sets.map((set) => [...set].sort().join())).size

/** The sets of devices that hold the chunks of a cluster. */
const holdingSets = (cluster: Cluster): ReadonlyArray<ReadonlyArray<string>> => {
  const found: Array<ReadonlyArray<string>> = []
  const cursor = newCursor()
  let here = seekFrom(cluster.state.chunks, { fileId: 0, chunkId: 0 }, cursor)
  while (here) {
    const record = rowRecord(cursor.words, cursor.offset)
    const where = cluster.run((draft) => locate(draft, record))
    if (where._tag === "Found") found.push(where.holders)
    here = advance(cluster.state.chunks, cursor)
  }
  return found
}

describe("few sets of devices", () => {
  it("there are at most as many as rings for each device, however many chunks", () => {
    const setting = fc.record({
      racks: layout,
      rings: fc.integer({ min: 1, max: 3 }),
      want: fc.integer({ min: 2, max: 4 })
    })
    fc.assert(
      fc.property(setting, ({ racks, rings, want }) => {
        const cluster = build(racks, { placementRings: rings })
        const devices = racks.flat().reduce((sum, disks) => sum + disks, 0)
        const sets = draw(cluster, 200, want)
        expect(distinct(sets)).toBeLessThanOrEqual(rings * devices)
        for (const set of sets) expect(new Set(set).size).toBe(Math.min(want, devices))
      }),
      { numRuns: 30 }
    )
  })

  it("every device has its share of new chunks, first or later in a set", () => {
    const racks = Array.from({ length: 4 }, () => [1, 1, 1])
    const cluster = build(racks)
    const taken = new Map<string, number>()
    for (const device of draw(cluster, 1_200, 3).flat()) {
      taken.set(device, (taken.get(device) ?? 0) + 1)
    }
    expect(taken.size).toBe(12)
    expect(Math.min(...taken.values())).toBeGreaterThan(150)
    expect(Math.max(...taken.values())).toBeLessThan(600)
  })

  it("a device that comes changes only the sets that it enters", () => {
    fc.assert(
      fc.property(layout, fc.integer({ min: 1, max: 4 }), (racks, want) => {
        const cluster = build(racks)
        const before = cluster.run(candidates)
        cluster.addServer("new", "new").rack = "r0"
        cluster.rounds(2)
        const after = cluster.run(candidates)
        for (const first of before) {
          for (let ring = 0; ring < 4; ring++) {
            const names = (eligible: typeof before) =>
              placementSet(eligible, { ring, first }, want).map(({ deviceId }) => deviceId)
            const now = names(after)
            if (!now.some((name) => name === "new")) expect(now).toEqual(names(before))
          }
        }
      }),
      { numRuns: 40 }
    )
  })

  it("repair keeps them few: each set that lost a device goes on in as many as there are rings", () => {
    const rings = 2
    const racks = Array.from({ length: 3 }, () => [1, 1, 1, 1])
    const cluster = build(racks, { placementRings: rings, deadAfterMs: 20_000 })
    const fileId = cluster.file()
    for (let index = 0; index < 150; index++) {
      const { devices } = succeed(cluster.alloc(fileId, { want: 3 }))
      cluster.write(devices, { fileId })
    }
    const before = holdingSets(cluster)
    const lost = before.filter((set) => set.some((name) => name === "d0-0-0"))
    expect(lost.length).toBeGreaterThan(0)
    cluster.server("h0-0").alive = false
    cluster.rounds(40)
    const after = holdingSets(cluster)
    expect(after.every((set) => set.length === 3)).toBe(true)
    expect(distinct(after)).toBeLessThanOrEqual(distinct(before) + distinct(lost) * (rings - 1))
  })

  it("the table of replica sets stays small, whatever the number of chunks", () => {
    const racks = Array.from({ length: 5 }, () => [2, 2, 2])
    const cluster = build(racks, { placementRings: 2 })
    const fileId = cluster.file()
    for (let index = 0; index < 600; index++) {
      const { devices } = succeed(cluster.alloc(fileId, { want: 3 }))
      cluster.write(devices, { fileId })
    }
    // Each set, and what it is built from: a device, two of them.
    expect(cluster.state.sets.size).toBeLessThanOrEqual(3 * 2 * 30)
  })
})
