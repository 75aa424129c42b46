/**
 * The tracker against a naive model, through restarts: (a) the checkpoint passes nothing
 * unfinished, (b) everything finished is checkpointed, (c) in any order, (d) repeats change
 * nothing, (e) a restart hands on exactly what the stored map leaves out, (f) within the limits,
 * (g) under its epoch.
 */
import { Result } from "effect"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { checkpoint } from "./checkpoint.ts"
import { statusOf } from "./completion-map.ts"
import { invariants } from "./invariants.ts"
import { decodeMap } from "./map-decode.ts"
import { encodeMap } from "./map-encode.ts"
import { hasPart } from "./part-set.ts"
import { Tracker } from "./tracker.ts"
import type { Ordinal } from "./tracker-types.ts"

const limits = { records: 6, items: 60, bytes: 1_000, span: 14, partsPerRecord: 40 }

/** One record of the shard as the model knows it: which of its parts are finished. */
interface ModelRecord {
  readonly position: bigint
  readonly total: number | undefined
  readonly finished: Set<number>
  isFinished: boolean
}

class World {
  epoch = 1
  tracker = new Tracker({ limits, epoch: 1, after: undefined })
  stored: { readonly position: bigint | undefined; readonly map: Uint8Array } = {
    position: undefined,
    map: new Uint8Array(0)
  }
  handedOn: Array<{ readonly record: ModelRecord; readonly ordinal: Ordinal }> = []
  reader = 0
  readonly shard: ReadonlyArray<ModelRecord>

  constructor(shard: ReadonlyArray<ModelRecord>) {
    this.shard = shard
  }

  /** The source delivers the next record; a refused one stays with it. */
  deliver(): void {
    const record = this.shard[this.reader]
    if (record === undefined) return
    const { position, total } = record
    const parts = total === undefined ? {} : { parts: total }
    const admission = this.tracker.admit({ position, bytes: 10, seenAt: 0, ...parts })
    switch (admission._tag) {
      case "Refused":
        expect(this.handedOn.length).toBeGreaterThan(0)
        return
      case "Admitted":
        expect(record.isFinished).toBe(false)
        this.handedOn.push({ record, ordinal: admission.ordinal })
        break
      case "Resumed":
        for (let index = 0; index < admission.finished.total; index++) {
          if (hasPart(admission.finished, index)) expect(record.finished.has(index)).toBe(true)
        }
        this.handedOn.push({ record, ordinal: admission.ordinal })
        break
      case "Finished":
        expect(record.isFinished || total === 0).toBe(true)
        record.isFinished = true
        break
      case "Repeated":
      case "Stale":
        throw new Error(admission._tag)
    }
    this.reader += 1
  }

  /** A stage reports something of a record that was handed on. */
  report(pick: number, choice: number, epoch = this.epoch): void {
    const held = this.handedOn[pick % Math.max(1, this.handedOn.length)]
    if (held === undefined) return
    const { ordinal, record } = held
    const counts = epoch === this.epoch
    if (record.total === undefined) {
      const outcome = this.tracker.complete(ordinal, epoch)
      expect(outcome).toBe(counts ? "Finished" : "Stale")
      if (counts) record.isFinished = true
    } else {
      const index = choice % record.total
      this.tracker.completePart(ordinal, epoch, { index, total: record.total })
      if (counts) record.finished.add(index)
      if (record.finished.size === record.total) record.isFinished = this.all(record, ordinal)
    }
    if (record.isFinished) {
      this.handedOn = this.handedOn.filter((other) => other !== held)
      expect(this.tracker.complete(ordinal, this.epoch)).toBe("Repeated")
    }
  }

  /** After a restart the tracker may know less than the model: report all that it misses. */
  private all(record: ModelRecord, ordinal: Ordinal): boolean {
    const total = record.total ?? 0
    for (let index = 0; index < total; index++) {
      this.tracker.completePart(ordinal, this.epoch, { index, total })
    }
    return true
  }

  /** The checkpoint as the model would compute it by a scan. */
  check(): void {
    expect(invariants(this.tracker)).toEqual([])
    const delivered = this.shard.slice(0, this.reader)
    const unfinished = new Set(this.handedOn.map(({ record }) => record.position))
    const stuck = delivered.findIndex(({ position }) => unfinished.has(position))
    const prefix = stuck < 0 ? delivered : delivered.slice(0, stuck)
    expect(this.tracker.lowWatermark).toBe(prefix.at(-1)?.position)
    const { map } = checkpoint(this.tracker)
    for (const { position } of delivered) {
      expect(statusOf(map, position)._tag === "Finished").toBe(!unfinished.has(position))
    }
  }

  store(): void {
    const { map, position } = checkpoint(this.tracker)
    this.stored = { position, map: encodeMap(map).bytes }
  }

  /** A crash: another worker opens the stored checkpoint; the shard is read again behind it. */
  restart(): void {
    this.tracker.fence()
    const base = this.stored.position
    const newest = this.shard.at(-1)?.position
    const map = Result.getOrThrow(decodeMap(this.stored.map, { base, newest }))
    this.epoch += 1
    this.tracker = new Tracker({ limits, epoch: this.epoch, after: base, restored: map })
    this.handedOn = []
    this.reader = this.shard.findIndex(({ position }) => position > (base ?? -1n))
    if (this.reader < 0) this.reader = this.shard.length
    for (const record of this.shard.slice(this.reader)) {
      const status = statusOf(map, record.position)
      record.isFinished = status._tag === "Finished"
      record.finished.clear()
      if (status._tag !== "Partial") continue
      for (let index = 0; index < status.finished.total; index++) {
        if (hasPart(status.finished, index)) record.finished.add(index)
      }
    }
  }
}

const shardOf = (
  shape: ReadonlyArray<readonly [bigint, number | null]>
): ReadonlyArray<ModelRecord> => {
  let position = -1n
  return shape.map(([gap, total]) => {
    position += gap
    return { position, total: total ?? undefined, finished: new Set(), isFinished: false }
  })
}

const shard = fc.array(
  fc.tuple(
    fc.constantFrom(1n, 1n, 1n, 3n, 10n ** 20n),
    fc.constantFrom(null, null, 0, 1, 2, 3, 5, 33)
  ),
  { minLength: 1, maxLength: 40 }
)
const steps = fc.array(
  fc.oneof(
    { weight: 5, arbitrary: fc.constant({ do: "deliver" } as const) },
    {
      weight: 8,
      arbitrary: fc.record({ do: fc.constant("report" as const), pick: fc.nat(), part: fc.nat() })
    },
    { weight: 1, arbitrary: fc.record({ do: fc.constant("stale" as const), pick: fc.nat() }) },
    { weight: 1, arbitrary: fc.constant({ do: "store" } as const) },
    { weight: 1, arbitrary: fc.constant({ do: "restart" } as const) }
  ),
  { maxLength: 120 }
)

describe("the tracker against a naive model", () => {
  it("agrees with it after every step, and drains whatever happened", () => {
    fc.assert(
      fc.property(shard, steps, (shape, script) => {
        const world = new World(shardOf(shape))
        for (const step of script) {
          switch (step.do) {
            case "deliver":
              world.deliver()
              break
            case "report":
              world.report(step.pick, step.part)
              break
            case "stale":
              world.report(step.pick, 0, world.epoch - 1)
              break
            case "store":
              world.store()
              break
            case "restart":
              world.restart()
              break
          }
          world.check()
        }
        for (
          let round = 0;
          world.reader < world.shard.length || world.handedOn.length > 0;
          round++
        ) {
          expect(round).toBeLessThan(10_000)
          world.deliver()
          world.report(0, round)
        }
        world.check()
        expect(world.tracker.lowWatermark).toBe(world.shard.at(-1)?.position)
      }),
      { numRuns: 300 }
    )
  })

  it("worker-C: the order of completion changes nothing in the end", () => {
    const order = fc.shuffledSubarray([...Array(30).keys()], { minLength: 30, maxLength: 30 })
    fc.assert(
      fc.property(order, (completions) => {
        const wide = { ...limits, records: 30, span: 30 }
        const tracker = new Tracker({ limits: wide, epoch: 1, after: undefined })
        const ordinals = [...Array(30).keys()].map((position) => {
          const admission = tracker.admit({ position: BigInt(position), bytes: 1, seenAt: 0 })
          return admission._tag === "Admitted" ? admission.ordinal : undefined
        })
        let before = -1n
        for (const pick of completions) {
          tracker.complete(ordinals[pick]!, 1)
          const now = tracker.lowWatermark ?? -1n
          expect(now).toBeGreaterThanOrEqual(before)
          before = now
        }
        expect(before).toBe(29n)
        expect(tracker.standing).toMatchObject({ span: 0, items: 0, bytes: 0 })
      })
    )
  })
})
