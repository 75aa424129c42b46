/** The order of repair, its limits, and that no class waits for ever. */
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { setMode } from "./modes.ts"
import { mapEntries } from "./ordered-map.ts"
import { FAIR_SHARE } from "./repair.ts"
import { repairClasses, type RepairClass } from "./repair-class.ts"
import { Cluster } from "./testing/cluster.ts"

/** Holders and goal of a chunk of each class. */
const shapes: Record<RepairClass, { readonly on: ReadonlyArray<string>; readonly goal: number }> = {
  "only-copy": { on: ["a"], goal: 2 },
  "very-low": { on: ["a", "b"], goal: 5 },
  low: { on: ["a", "b"], goal: 3 },
  "badly-spread": { on: ["a", "a2"], goal: 2 }
}
const holders = ["a", "a2", "b"]
const target = "t"

/** Holders that take nothing new, and one device that every copy must go to. */
const setUp = (settings: ConstructorParameters<typeof Cluster>[0]) => {
  const cluster = new Cluster({ copiesOutMax: 1_000, ...settings })
  cluster.addServer("ha", "a", "a2")
  cluster.addServer("hb", "b")
  cluster.addServer("ht", target)
  cluster.start()
  for (const deviceId of holders) {
    cluster.run((draft) => setMode(draft, { deviceId, desired: "frozen" }))
  }
  cluster.file()
  return cluster
}

const write = (cluster: Cluster, name: RepairClass): number => {
  const { on, goal } = shapes[name]
  // Devices take what is written to them whatever their mode; only allocation asks for it.
  return cluster.write(on, { fileId: 1, goal }).chunkId
}

/** Lets copies be planned and made, round after round, and names the chunks in order. */
const orderOf = (cluster: Cluster, rounds: number, eachRound: () => void = () => undefined) => {
  const order: Array<number> = []
  let last = 0
  for (let round = 0; round < rounds; round++) {
    cluster.rounds(1)
    const started = [...mapEntries(cluster.state.copyJobs)].filter(([key]) => key.commandId > last)
    for (const [key, job] of started.sort(([x], [y]) => x.commandId - y.commandId)) {
      order.push(job.chunkId)
      last = key.commandId
    }
    eachRound()
  }
  return order
}

const rank = (name: RepairClass) => repairClasses.indexOf(name)

describe("metadata-W35: the order of repair", () => {
  it("is that of the classes, but for one copy in eight, and none waits for ever", () => {
    const one = fc.constantFrom(...repairClasses)
    fc.assert(
      fc.property(fc.array(one, { minLength: 1, maxLength: 60 }), (wanted) => {
        const cluster = setUp({ copySlotBytes: 1 })
        const names = new Map(wanted.map((name) => [write(cluster, name), name]))
        const order = orderOf(cluster, wanted.length + 2)
        expect(order.toSorted((x, y) => x - y)).toEqual([...names.keys()])
        const waiting = new Map(names)
        const outOfOrder: Array<number> = []
        order.forEach((chunkId, at) => {
          const name = names.get(chunkId)!
          const first = Math.min(...[...waiting.values()].map(rank))
          if (rank(name) > first) outOfOrder.push(at)
          waiting.delete(chunkId)
        })
        outOfOrder.forEach((at, index) => {
          expect(at - (outOfOrder[index - 1] ?? -1)).toBeGreaterThanOrEqual(FAIR_SHARE)
        })
      }),
      { numRuns: 60 }
    )
  })

  it("a class below one that never ends gets its share", () => {
    const cluster = setUp({ copySlotBytes: 1 })
    const others = (["very-low", "low", "badly-spread"] as const).map((name) =>
      write(cluster, name)
    )
    const feed = () => {
      while (cluster.state.onlyCopy.size < 10) write(cluster, "only-copy")
    }
    feed()
    const order = orderOf(cluster, 4 * FAIR_SHARE, feed)
    expect(cluster.state.onlyCopy.size).toBeGreaterThan(0)
    for (const chunkId of others) expect(order).toContain(chunkId)
  })
})

describe("the limits of a device", () => {
  const spread = fc.record({
    chunks: fc.array(
      fc.record({
        on: fc.subarray(["a", "b", "c", "d", "e"], { minLength: 1, maxLength: 3 }),
        more: fc.integer({ min: 0, max: 3 })
      }),
      { minLength: 1, maxLength: 50 }
    ),
    copySlotBytes: fc.constantFrom(1, 150, 400, 1_600)
  })

  it("two copies in and four out, or smaller ones in their place; only copies twice as many", () => {
    fc.assert(
      fc.property(spread, ({ chunks, copySlotBytes }) => {
        const cluster = new Cluster({ copySlotBytes })
        for (const name of ["a", "b", "c", "d", "e"]) cluster.addServer(`h${name}`, name)
        cluster.start()
        cluster.file()
        const only = new Set<number>()
        for (const { on, more } of chunks) {
          const { chunkId } = cluster.write(on, { fileId: 1, goal: on.length + more })
          if (on.length === 1) only.add(chunkId)
        }
        cluster.pass(10)
        expectWithin(cluster, only)
      }),
      { numRuns: 100 }
    )
  })

  it.each([
    ["only-copy", 4],
    ["low", 2]
  ] as const)(
    "of %s chunks a device takes %i large ones at a time, or sixteen times as many",
    (name, most) => {
      for (const [copySlotBytes, times] of [
        [100, 1],
        [1_600, 16]
      ] as const) {
        const cluster = setUp({ copySlotBytes })
        for (let index = 0; index < most * times + 3; index++) write(cluster, name)
        cluster.pass(10)
        const owed = name === "low" ? Math.floor((most * times) / FAIR_SHARE) : 0
        const { size } = cluster.state.copyJobs
        expect(size).toBeGreaterThanOrEqual(most * times)
        expect(size).toBeLessThanOrEqual(most * times + owed)
      }
    }
  )
})

/** No device has more under way than its slots carry, and no waiting chunk could be copied too. */
const expectWithin = (cluster: Cluster, only: ReadonlySet<number>): void => {
  const { settings, state } = cluster
  const jobs = [...mapEntries(state.copyJobs)]
  const owed = Math.floor(jobs.length / FAIR_SHARE)
  // In sixteenths of a slot, told by hand: a chunk of these tests has 100 bytes.
  const load = Math.min(16, Math.ceil((100 * 16) / settings.copySlotBytes))
  for (const index of state.deviceNames.keys()) {
    const inward = jobs.filter(([key]) => key.device === index)
    const outward = jobs.filter(([, job]) => job.source === index)
    for (const [own, most] of [
      [inward, settings.copiesInMax],
      [outward, settings.copiesOutMax]
    ] as const) {
      expect(own.length * load).toBeLessThanOrEqual(most * 32)
      const others = own.filter(([, job]) => !only.has(job.chunkId)).length
      expect((others - owed) * load).toBeLessThanOrEqual(most * 16)
    }
  }
}
