/** The ring of records in flight against a map, and how a held record is offered. */
import type { Ordinal } from "@holdfast/disposition"
import type { SourceRecord } from "@holdfast/records"
import { Brand } from "effect"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { addOffers, type HeldRecord, HeldRecords } from "./held-records.ts"
import type { OfferedRecord } from "./pipeline.ts"

const ordinal = Brand.nominal<Ordinal>()

const recordAt = (position: number): SourceRecord => ({
  position: BigInt(position),
  timestamp: 0n,
  subject: new Uint8Array(0),
  headers: [],
  data: new Uint8Array(0)
})

const heldAt = (position: number): HeldRecord => ({
  record: recordAt(position),
  parts: undefined
})

/** Ordinals in one step: so many are passed over, so many are held, so many of them let go. */
const steps = fc.array(
  fc.record({
    skipped: fc.nat(40),
    held: fc.nat(3_000),
    released: fc.array(fc.nat(4_000), { maxLength: 3_000 }),
    releasesOldest: fc.nat(3_000)
  }),
  { maxLength: 8 }
)

describe("the records in flight", () => {
  it("are those of a map, in whatever order they leave", () => {
    fc.assert(
      fc.property(steps, (all) => {
        const ring = new HeldRecords()
        const map = new Map<Ordinal, HeldRecord>()
        let next = 0
        const release = (at: number): void => {
          ring.release(ordinal(at))
          map.delete(ordinal(at))
        }
        for (const { held, released, releasesOldest, skipped } of all) {
          next += skipped
          for (let count = 0; count < held; count++, next++) {
            const one = heldAt(next)
            ring.hold(ordinal(next), one)
            map.set(ordinal(next), one)
          }
          for (const back of released) release(next - back)
          for (const oldest of [...map.keys()].slice(0, releasesOldest)) release(oldest)
          for (let at = -1; at <= next; at++) {
            if (ring.get(ordinal(at)) !== map.get(ordinal(at))) return false
          }
        }
        return true
      }),
      { numRuns: 60 }
    )
  })

  it("start anywhere, also where ordinals have long left 32 bits", () => {
    const ring = new HeldRecords()
    const first = 2 ** 40
    for (let at = first; at < first + 5_000; at++) ring.hold(ordinal(at), heldAt(at))
    expect(ring.get(ordinal(first))?.record.position).toBe(BigInt(first))
    expect(ring.get(ordinal(first + 4_999))?.record.position).toBe(BigInt(first + 4_999))
    expect(ring.get(ordinal(first - 1_024))).toBeUndefined()
  })

  it("are never held out of order: that would be a fault of the intake", () => {
    const ring = new HeldRecords()
    ring.hold(ordinal(7), heldAt(7))
    expect(() => ring.hold(ordinal(7), heldAt(7))).toThrow(/out of order/)
  })
})

describe("a held record", () => {
  const offersOf = (held: HeldRecord, how: Parameters<typeof addOffers>[2]) => {
    const offers: Array<OfferedRecord> = []
    addOffers(offers, held, how)
    return offers
  }
  const finishedParts = { total: 3, count: 1, words: Uint32Array.of(0b010) }

  it("is offered whole, with what of it is finished or wanted where that is known", () => {
    const held = heldAt(5)
    const plain = { ordinal: ordinal(5), attempt: 1, finishedParts: undefined }
    const { record } = held
    expect(offersOf(held, plain)).toEqual([{ ordinal: 5, record, attempt: 1 }])
    expect(offersOf(held, { ...plain, attempt: 2, finishedParts, onlyParts: [2] })).toEqual([
      { ordinal: 5, record, attempt: 2, finishedParts, onlyParts: [2] }
    ])
  })

  it("that was an aggregate is offered as those of its parts that are missing", () => {
    const parts = [0, 1, 2].map(() => recordAt(5))
    const held = { record: recordAt(5), parts }
    const how = { ordinal: ordinal(5), attempt: 1, finishedParts }
    const indexes = (offers: ReadonlyArray<OfferedRecord>) => offers.map(({ part }) => part?.index)
    expect(indexes(offersOf(held, how))).toEqual([0, 2])
    expect(indexes(offersOf(held, { ...how, onlyParts: [1, 2] }))).toEqual([2])
  })
})
