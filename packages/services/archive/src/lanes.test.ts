import { type ArchiveEntry, archiveSettingsDefault } from "@holdfast/catalogue"
import { segmentReading } from "@holdfast/client"
import type { Ordinal } from "@holdfast/disposition"
import { decodeSegment } from "@holdfast/segment"
import type { OfferedRecord } from "@holdfast/service-worker"
import { Brand, Result } from "effect"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { Lanes } from "./lanes.ts"
import type { SegmentJob } from "./open-segment.ts"

const ordinal = Brand.nominal<Ordinal>()

const archiveOf = (records: number): ArchiveEntry => ({
  origin: { name: "orders", stream: "ORDERS", shards: [], fileId: 1, created: 0n },
  settings: {
    ...archiveSettingsDefault,
    segments: { bytes: 1_000_000, records, ageMs: 60_000 },
    compression: { _tag: "None" }
  },
  status: "active",
  revision: 0,
  rules: 0,
  rulesSince: {}
})

const lanesOf = (records: number, finishedUpTo?: bigint) =>
  new Lanes({ shard: "orders", archive: archiveOf(records), finishedUpTo })

/** A time that no segment can hold. */
const refusedTime = 2n ** 64n

/** The record at a position: whole, or as those of its parts that are named. */
const offersOf = (
  position: number,
  {
    attempt = 1,
    only,
    refused = [],
    total
  }: {
    readonly total?: number
    readonly only?: ReadonlyArray<number>
    readonly refused?: ReadonlyArray<number>
    readonly attempt?: number
  } = {}
): ReadonlyArray<OfferedRecord> => {
  const record = (timestamp: bigint) => ({
    position: BigInt(position),
    timestamp,
    subject: new Uint8Array(0),
    headers: [],
    data: new Uint8Array(0)
  })
  if (total === undefined) return [{ ordinal: ordinal(position), record: record(0n), attempt }]
  return (only ?? Array.from({ length: total }, (_, at) => at)).map((index) => ({
    ordinal: ordinal(position),
    record: record(refused.includes(index) ? refusedTime : 0n),
    part: { index, total },
    attempt
  }))
}

const contentsOf = ({ sealed }: SegmentJob): ReadonlyArray<string> =>
  Result.getOrThrow(decodeSegment(sealed.bytes, segmentReading)).records.map(
    ({ part, position }) => `${position}/${part}`
  )

const shown = (jobs: ReadonlyArray<SegmentJob>) =>
  jobs.map((job) => `${job.owner.complete ? "complete" : "part"}: ${contentsOf(job).join(" ")}`)

describe("the parts of a record", () => {
  it("stand in one segment, however full it is, each under its own number", () => {
    const lanes = lanesOf(3)
    const { jobs } = lanes.take(
      [...offersOf(1), ...offersOf(2, { total: 4 }), ...offersOf(3), ...offersOf(4)],
      0n
    )
    const all = [...jobs, ...lanes.seal({ _tag: "All" })]
    expect(shown(all)).toEqual(["complete: 1/0 2/0 2/1 2/2 2/3", "complete: 3/0 4/0"])
    expect(all[0]!.contents.done()).toEqual([
      { _tag: "Done", ordinals: [1] },
      { _tag: "PartsDone", ordinal: 2, total: 4, indexes: [0, 1, 2, 3] }
    ])
    const why = { reason: "no room", fatal: false, outage: true }
    expect(all[0]!.contents.failed(why)).toEqual([
      { _tag: "Failed", ordinal: 1, ...why },
      { _tag: "Failed", ordinal: 2, ...why }
    ])
  })

  it("of which one is refused end the complete segment in front of them", () => {
    const lanes = lanesOf(10)
    const { jobs, refused } = lanes.take(
      [...offersOf(1), ...offersOf(2, { total: 3, refused: [1] }), ...offersOf(3)],
      0n
    )
    const all = [...jobs, ...lanes.seal({ _tag: "All" })]
    expect(shown(all)).toEqual(["complete: 1/0", "complete: 3/0", "part: 2/0 2/2"])
    expect(refused).toMatchObject([{ _tag: "Failed", ordinal: 2, part: { index: 1, total: 3 } }])
  })

  it("of which some were finished before the opening, or come again, are in no complete one", () => {
    const lanes = lanesOf(10, 2n)
    const { jobs } = lanes.take(
      [
        ...offersOf(2, { total: 3, only: [0, 2] }),
        ...offersOf(3),
        ...offersOf(1, { total: 2, attempt: 2 })
      ],
      0n
    )
    const all = [...jobs, ...lanes.seal({ _tag: "All" })]
    expect(shown(all)).toEqual(["part: 2/0 2/2", "complete: 3/0", "part: 1/0 1/1"])
  })

  it("are each in exactly one segment, and complete segments hold whole records, whatever comes", () => {
    const record = fc.record({
      total: fc.option(fc.integer({ min: 1, max: 6 }), { nil: undefined }),
      refused: fc.array(fc.nat(5), { maxLength: 2 }),
      missing: fc.option(fc.nat(5), { nil: undefined }),
      ends: fc.boolean()
    })
    fc.assert(
      fc.property(
        fc.array(record, { maxLength: 30 }),
        fc.integer({ min: 1, max: 8 }),
        (all, max) => {
          const lanes = lanesOf(max)
          const wanted: Array<string> = []
          const whole = new Map<string, number>()
          const given = new Set<number>()
          const jobs: Array<SegmentJob> = []
          let batch: Array<OfferedRecord> = []
          for (const [at, { ends, missing, refused, total }] of all.entries()) {
            const only = Array.from({ length: total ?? 1 }, (_, index) => index).filter(
              (index) => total === undefined || index !== missing
            )
            const offers = offersOf(
              at,
              total === undefined
                ? {}
                : { total, only, refused: refused.filter((one) => one < total) }
            )
            const fitting = offers.filter(({ record: { timestamp } }) => timestamp !== refusedTime)
            wanted.push(...fitting.map(({ part }) => `${at}/${part?.index ?? 0}`))
            if (fitting.length === (total ?? 1)) whole.set(String(at), fitting.length)
            if (offers.length > 0) given.add(at)
            batch.push(...offers)
            if (!ends) continue
            jobs.push(...lanes.take(batch, 0n).jobs)
            batch = []
          }
          jobs.push(...lanes.take(batch, 0n).jobs, ...lanes.seal({ _tag: "All" }))
          expect(jobs.flatMap(contentsOf).toSorted()).toEqual(wanted.toSorted())
          for (const job of jobs.filter(({ owner }) => owner.complete)) {
            const counts = new Map<string, number>()
            for (const name of contentsOf(job)) {
              const [position = ""] = name.split("/")
              counts.set(position, (counts.get(position) ?? 0) + 1)
            }
            for (const [position, count] of counts) expect(whole.get(position)).toBe(count)
            const positions = [...counts.keys()].map(Number)
            const between = [...given].filter(
              (at) => at >= Math.min(...positions) && at <= Math.max(...positions)
            )
            expect(positions).toEqual(between)
          }
        }
      )
    )
  })
})
