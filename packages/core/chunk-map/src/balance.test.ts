/** Balancing by free space: when it may, how much of it, and that it comes to rest. */
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { setSafeMode } from "./safe-mode.ts"
import { status } from "./status.ts"
import { Cluster, succeed } from "./testing/cluster.ts"
import { nameOf } from "./testing/disks.ts"

const names = ["a", "b", "c", "d"]
const capacity = 10_000

const setUp = (settings = {}) => {
  const cluster = new Cluster(settings)
  for (const name of names) {
    cluster.addServer(`h${name}`, name)
    cluster.disk(name).capacity = capacity
  }
  return cluster.start()
}

const used = (cluster: Cluster) => names.map((name) => cluster.disk(name).copies.size * 100)

const gap = (cluster: Cluster) => {
  const all = used(cluster)
  return (Math.max(...all) - Math.min(...all)) / capacity
}

/** The fewest intact copies on disks that any of the chunks has. */
const fewest = (cluster: Cluster, chunks: ReadonlyArray<Parameters<typeof nameOf>[0]>) =>
  Math.min(
    ...chunks.map(
      (chunk) => names.filter((name) => cluster.disk(name).copies.has(nameOf(chunk))).length
    )
  )

const fill = (cluster: Cluster, count: number, on: ReadonlyArray<string>) => {
  const fileId = cluster.file()
  return Array.from({ length: count }, () => cluster.write(on, { fileId }))
}

describe("balancing", () => {
  it("evens out free space and never goes below the goal, whatever is where", () => {
    const piles = fc.array(
      fc.record({
        count: fc.integer({ min: 1, max: 30 }),
        on: fc.subarray(names, { minLength: 1, maxLength: 3 })
      }),
      { minLength: 1, maxLength: 3 }
    )
    fc.assert(
      fc.property(piles, (wanted) => {
        const cluster = setUp()
        const written = wanted.map(({ count, on }) => ({ on, chunks: fill(cluster, count, on) }))
        const before = gap(cluster)
        let still = 0
        for (let round = 0; still < 10; round++) {
          const seen = used(cluster).join()
          cluster.rounds(1)
          for (const { chunks, on } of written) {
            expect(fewest(cluster, chunks)).toBeGreaterThanOrEqual(on.length)
          }
          const { pending } = cluster.run(status)
          expect(pending.copies).toBeLessThanOrEqual(cluster.settings.balanceCopiesMax)
          still = used(cluster).join() === seen && pending.copies === 0 ? still + 1 : 0
          expect(round).toBeLessThan(2_000)
        }
        expect(gap(cluster)).toBeLessThanOrEqual(Math.max(before, 0))
        expect(cluster.run(status)).toMatchObject({
          chunks: { belowGoal: 0, surplus: 0 },
          pending: { copies: 0, deletions: 0 }
        })
        expect(gap(cluster)).toBeLessThanOrEqual(cluster.settings.balanceRatioMin + 1e-9)
      }),
      { numRuns: 25 }
    )
  }, 60_000)

  it("waits while a chunk is below its goal", () => {
    const cluster = setUp()
    fill(cluster, 40, ["a", "b"])
    const fileId = cluster.file()
    cluster.write(["a", "b", "c", "d"], { fileId, goal: 5 })
    cluster.rounds(20)
    expect(used(cluster)).toEqual([4_100, 4_100, 100, 100])
  })

  it("waits in safe mode", () => {
    const cluster = setUp()
    fill(cluster, 40, ["a", "b"])
    succeed(cluster.run((draft) => setSafeMode(draft, { action: "enter" })))
    cluster.rounds(20)
    expect(used(cluster)).toEqual([4_000, 4_000, 0, 0])
  })

  it("keeps within its bytes a second, and can be switched off", () => {
    const slow = setUp({ balanceBytesPerSecond: 50, balanceRatioMin: 0.05 })
    fill(slow, 40, ["a", "b"])
    slow.rounds(20)
    const moved = slow.disk("c").copies.size + slow.disk("d").copies.size
    expect(moved).toBeGreaterThan(5)
    expect(moved).toBeLessThanOrEqual(11)
    const off = setUp({ balanceBytesPerSecond: 0 })
    fill(off, 40, ["a", "b"])
    off.rounds(20)
    expect(used(off)).toEqual([4_000, 4_000, 0, 0])
  })
})
