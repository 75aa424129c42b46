/** Workers that list, write late, stop, crash and come back, with clocks that drift. */
import fc from "fast-check"
import { Option } from "effect"
import { describe, expect, it } from "vitest"
import { Store, Worker } from "./testing/cluster.ts"

const names = ["w1", "w2", "w3", "w4"]

const step = fc.record({
  worker: fc.nat(3),
  does: fc.oneof(
    { weight: 6, arbitrary: fc.constant("look" as const) },
    { weight: 12, arbitrary: fc.constant("act" as const) },
    { weight: 3, arbitrary: fc.constant("release" as const) },
    { weight: 1, arbitrary: fc.constant("crash" as const) },
    { weight: 2, arbitrary: fc.constant("start" as const) }
  ),
  elapsed: fc.constantFrom(0, 1, 50, 200, 950)
})
const clock = fc.record({
  rate: fc.double({ min: 0.98, max: 1.02, noNaN: true }),
  offset: fc.integer({ min: -1_000_000, max: 1_000_000 })
})
const clocks = fc.tuple(clock, clock, clock, clock)

const open = (settings: ReadonlyArray<{ rate: number; offset: number }>) => {
  const store = new Store()
  const workers = names.map((name, at) => new Worker({ name, store, ...settings[at]! }))
  return { store, workers }
}

const shardNames = (count: number) => Array.from({ length: count }, (_, at) => `s${at}`)

const settle = (workers: ReadonlyArray<Worker>, shards: ReadonlyArray<string>, start: number) => {
  let real = start
  for (let round = 0; round < 60; round++, real += 200) {
    for (const worker of workers) {
      worker.look(real, shards)
      while (worker.pending.length > 0) worker.act(real)
      worker.release()
    }
  }
  return real
}

describe("leases", () => {
  it("at most one worker acts for a shard, and epochs only rise", () => {
    const script = fc.array(step, { maxLength: 200 })
    fc.assert(
      fc.property(clocks, fc.integer({ min: 1, max: 6 }), script, (settings, count, steps) => {
        const { store, workers } = open(settings)
        const shards = shardNames(count)
        let real = 0
        for (const { does, elapsed, worker: at } of steps) {
          const worker = workers[at]!
          real += elapsed
          if (does === "look") worker.look(real, shards)
          else if (does === "act") worker.act(real)
          else if (does === "release") worker.release()
          else if (does === "crash") worker.crash()
          else worker.isUp = true
          for (const shard of shards) {
            const actors = workers.filter((one) => one.believes(shard, real))
            expect(actors.length).toBeLessThanOrEqual(1)
          }
        }
        expect(store.violations).toEqual([])
      }),
      { numRuns: 400 }
    )
  })

  it("worker-D15: whatever happened, every shard ends with one live owner, evenly spread", () => {
    const script = fc.array(step, { maxLength: 120 })
    const survivors = fc.subarray([0, 1, 2, 3], { minLength: 1 })
    fc.assert(
      fc.property(clocks, fc.integer({ min: 0, max: 9 }), script, survivors, (...world) => {
        const [settings, count, steps, alive] = world
        const { store, workers } = open(settings)
        const shards = shardNames(count)
        let real = 0
        for (const { does, elapsed, worker: at } of steps) {
          const worker = workers[at]!
          real += elapsed
          if (does === "look") worker.look(real, shards)
          else if (does === "act") worker.act(real)
          else if (does === "release") worker.release()
          else if (does === "crash") worker.crash()
          else worker.isUp = true
        }
        for (const [at, worker] of workers.entries()) {
          if (alive.includes(at)) worker.isUp = true
          else worker.crash()
        }
        real = settle(workers, shards, real)
        const counts = alive.map(
          (at) => shards.filter((shard) => workers[at]!.believes(shard, real - 200)).length
        )
        expect(counts.reduce((sum, one) => sum + one, 0)).toBe(count)
        expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1)
        expect(
          [...store.claims.values()].filter(({ record }) => Option.isNone(record.owner))
        ).toEqual([])
      }),
      { numRuns: 200 }
    )
  })
})
