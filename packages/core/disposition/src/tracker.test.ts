import { describe, expect, it } from "vitest"
import { checkpoint } from "./checkpoint.ts"
import { statusOf } from "./completion-map.ts"
import { invariants } from "./invariants.ts"
import type { Tracker } from "./tracker.ts"
import {
  admit,
  completeAll,
  enter,
  enterAll,
  epoch,
  openTracker
} from "./testing/tracker-notation.ts"
import { asOrdinal, type Ordinal } from "./tracker-types.ts"

const part = (tracker: Tracker, ordinal: Ordinal, index: number, total: number) =>
  tracker.completePart(ordinal, epoch, { index, total })

describe("the low watermark", () => {
  it("worker-A1: a record without its acknowledgement stays above the checkpoint", () => {
    const tracker = openTracker()
    enter(tracker, 0)
    expect(checkpoint(tracker).position).toBeUndefined()
  })

  it("worker-A2: a record that was seen and never run is not passed", () => {
    const tracker = openTracker()
    enterAll(tracker, 10, 11, 12)
    completeAll(tracker, 10, 11)
    expect(checkpoint(tracker).position).toBe(11n)
  })

  it("worker-A11: a failed record holds the checkpoint below it", () => {
    const tracker = openTracker()
    enter(tracker, 1)
    const second = enter(tracker, 2)
    enter(tracker, 3)
    completeAll(tracker, 1, 3)
    expect(tracker.fail(second, epoch)).toEqual({ _tag: "Failing", attempt: 1, attempts: 1 })
    expect(checkpoint(tracker).position).toBe(1n)
    expect(tracker.standing.failing).toBe(1)
  })

  it("worker-C1: positions with gaps, acknowledged out of order, free the whole span", () => {
    const tracker = openTracker({ limits: { records: 4 } })
    enterAll(tracker, 0, 2, 4, 6)
    expect(admit(tracker, 8)._tag).toBe("Refused")
    completeAll(tracker, 0, 2, 6, 4)
    expect(checkpoint(tracker).position).toBe(6n)
    expect(admit(tracker, 8)._tag).toBe("Admitted")
  })

  it.each([
    { acknowledged: [11, 15], checkpointed: 11n },
    { acknowledged: [11, 15, 13, 17, 19], checkpointed: 19n },
    { acknowledged: [13], checkpointed: undefined },
    { acknowledged: [13, 11], checkpointed: 13n },
    { acknowledged: [19, 17, 15, 13], checkpointed: undefined }
  ])("pending 11 13 15 17 19, acknowledged $acknowledged", ({ acknowledged, checkpointed }) => {
    const tracker = openTracker()
    enterAll(tracker, 11, 13, 15, 17, 19)
    completeAll(tracker, ...acknowledged)
    expect(checkpoint(tracker).position).toBe(checkpointed)
    expect(invariants(tracker)).toEqual([])
  })

  it("worker-A15: a batch that finishes first waits for the one before it", () => {
    const tracker = openTracker()
    enterAll(tracker, 1, 2, 3, 4)
    completeAll(tracker, 3, 4)
    expect(checkpoint(tracker).position).toBeUndefined()
    completeAll(tracker, 2, 1)
    expect(checkpoint(tracker).position).toBe(4n)
  })

  it("worker-W21: an ignored record is a finished one", () => {
    const tracker = openTracker()
    for (let position = 0; position < 100; position++) admit(tracker, position, 0)
    expect(checkpoint(tracker).position).toBe(99n)
    expect(tracker.isEmpty).toBe(true)
  })
})

describe("parts", () => {
  it("worker-W1: the same part twice does not finish its record", () => {
    const tracker = openTracker()
    const record = enter(tracker, 1)
    expect(part(tracker, record, 0, 2)).toBe("Counted")
    expect(part(tracker, record, 0, 2)).toBe("Repeated")
    expect(tracker.isEmpty).toBe(false)
    expect(part(tracker, record, 1, 2)).toBe("Finished")
    expect(tracker.counters.repeatedReports).toBe(1)
  })

  it("worker-W2: another total than the first is a fault and finishes nothing", () => {
    const tracker = openTracker()
    const record = enter(tracker, 1)
    part(tracker, record, 0, 3)
    expect(part(tracker, record, 1, 2)).toBe("TotalMismatch")
    expect(tracker.isEmpty).toBe(false)
    expect(tracker.counters.protocolFaults).toBe(1)
  })

  it.each([
    [7, 2],
    [-1, 2],
    [2, 2],
    [0.5, 2],
    [0, 0],
    [0, -3],
    [0, Number.NaN]
  ])("worker-W3: part %d of %d is outside and changes nothing", (index, total) => {
    const tracker = openTracker()
    const record = enter(tracker, 1)
    expect(part(tracker, record, index, total)).toBe("PartOutOfRange")
    expect(tracker.complete(record, epoch)).toBe("Finished")
  })

  it("worker-W4, worker-C25: a record without items is finished, known at arrival or later", () => {
    const tracker = openTracker()
    expect(admit(tracker, 1, 0)._tag).toBe("Finished")
    const later = enter(tracker, 2)
    expect(tracker.expect(later, epoch, 0)).toBe("Finished")
    expect(tracker.isEmpty).toBe(true)
    expect(checkpoint(tracker).position).toBe(2n)
  })

  it("worker-W7: a plain record is acknowledged by its own id", () => {
    const tracker = openTracker()
    expect(tracker.complete(enter(tracker, 5), epoch)).toBe("Finished")
    expect(checkpoint(tracker).position).toBe(5n)
  })

  it.each([
    { name: "worker-B7, worker-W8", order: [2, 1, 0] },
    { name: "worker-W9", order: [1, 2, 0] },
    { name: "in order", order: [0, 1, 2] }
  ])("$name: parts finished as $order checkpoint the record itself", ({ order }) => {
    const tracker = openTracker()
    const record = enter(tracker, 9)
    for (const index of order) part(tracker, record, index, 3)
    expect(checkpoint(tracker).position).toBe(9n)
    expect(tracker.isEmpty).toBe(true)
  })

  it("worker-W10: a record in parts is checkpointed whole; its parts are in the map", () => {
    const tracker = openTracker()
    const record = enter(tracker, 4, 3)
    part(tracker, record, 0, 3)
    const { map, position } = checkpoint(tracker)
    expect(position).toBeUndefined()
    const status = statusOf(map, 4n)
    expect(status._tag === "Partial" && [...status.finished.words]).toEqual([0b001])
  })

  it("a whole report on a record in parts is a fault", () => {
    const tracker = openTracker()
    const record = enter(tracker, 4, 3)
    expect(tracker.complete(record, epoch)).toBe("PartsExpected")
    expect(tracker.isEmpty).toBe(false)
  })

  it("declaring the total twice is a repeat, another total a fault", () => {
    const tracker = openTracker()
    const record = enter(tracker, 4)
    expect(tracker.expect(record, epoch, 3)).toBe("Counted")
    expect(tracker.expect(record, epoch, 3)).toBe("Repeated")
    expect(tracker.expect(record, epoch, 4)).toBe("TotalMismatch")
    expect(part(tracker, record, 0, 4)).toBe("TotalMismatch")
  })

  it("worker-W11: 100,000 parts in any order finish their record, once each", () => {
    const tracker = openTracker()
    const record = enter(tracker, 0, 100_000)
    const outcomes = new Map<string, number>()
    for (let step = 0; step < 100_000; step++) {
      const outcome = part(tracker, record, (step * 7_919) % 100_000, 100_000)
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1)
    }
    expect([...outcomes]).toEqual([
      ["Counted", 99_999],
      ["Finished", 1]
    ])
    expect(checkpoint(tracker).position).toBe(0n)
  })

  it("a part that is laid aside leaves the others to be done", () => {
    const tracker = openTracker()
    const record = enter(tracker, 1)
    tracker.fail(record, epoch, { part: { index: 1, total: 3 } })
    const aside = { index: 1, total: 3 }
    expect(tracker.settle(record, epoch, "dead-lettered", aside)).toBe("Counted")
    expect(tracker.settle(record, epoch, "dead-lettered", aside)).toBe("Repeated")
    expect(tracker.standing).toMatchObject({ items: 2, failing: 0, records: 1 })
    expect(part(tracker, record, 0, 3)).toBe("Counted")
    expect(tracker.settle(record, epoch, "skipped", { index: 2, total: 3 })).toBe("Finished")
    expect(tracker.counters).toMatchObject({ skipped: 1, deadLettered: 1, finished: 1 })
    expect(invariants(tracker)).toEqual([])
  })

  it("a record of 1,000 parts survives the growth of the window", () => {
    const tracker = openTracker()
    const record = enter(tracker, 0)
    for (let index = 0; index < 500; index++) part(tracker, record, index, 1_000)
    for (let position = 1; position < 1_000; position++) enter(tracker, position)
    expect(invariants(tracker)).toEqual([])
    expect(part(tracker, record, 499, 1_000)).toBe("Repeated")
    for (let index = 500; index < 1_000; index++) part(tracker, record, index, 1_000)
    expect(checkpoint(tracker).position).toBe(0n)
  })
})

describe("repeats and strangers", () => {
  it("worker-W5: reports after completion are repeats, above the watermark and below", () => {
    const tracker = openTracker()
    const first = enter(tracker, 1)
    const second = enter(tracker, 2)
    tracker.complete(second, epoch)
    expect(tracker.complete(second, epoch)).toBe("Repeated")
    expect(part(tracker, second, 0, 2)).toBe("Repeated")
    tracker.complete(first, epoch)
    expect(tracker.complete(first, epoch)).toBe("Repeated")
    expect(tracker.fail(first, epoch)).toEqual({ _tag: "Ignored", outcome: "Repeated" })
  })

  it.each([1, 99, -1, 0.5, Number.NaN])("worker-W6: ordinal %d was never given out", (ordinal) => {
    const tracker = openTracker()
    enter(tracker, 1)
    expect(tracker.complete(asOrdinal(ordinal), epoch)).toBe("Unknown")
    expect(tracker.counters.unknownReports).toBe(1)
    expect(tracker.isEmpty).toBe(false)
  })

  it("worker-W32: the first record, at position 0, is no more missing than any other", () => {
    const tracker = openTracker()
    const first = enter(tracker, 0)
    expect(first).toBe(0)
    expect(tracker.find(0n)).toBe(0)
    expect(tracker.complete(first, epoch)).toBe("Finished")
    expect(checkpoint(tracker).position).toBe(0n)
    expect(admit(tracker, 0)).toEqual({ _tag: "Finished" })
  })

  it("worker-W18: a record that comes again in flight joins its entry", () => {
    const tracker = openTracker()
    const first = enter(tracker, 1)
    enter(tracker, 2)
    expect(admit(tracker, 1)).toEqual({ _tag: "Repeated", ordinal: first })
    completeAll(tracker, 2)
    expect(admit(tracker, 2)).toEqual({ _tag: "Finished" })
    tracker.complete(first, epoch)
    expect(admit(tracker, 1)).toEqual({ _tag: "Finished" })
    expect(tracker.isEmpty).toBe(true)
    expect(tracker.counters).toMatchObject({ admitted: 2, finished: 2, repeatedArrivals: 3 })
  })

  it("worker-D10: redelivery in another order adds nothing", () => {
    const tracker = openTracker()
    enterAll(tracker, 1, 2, 3)
    expect([2, 3, 1].map((position) => admit(tracker, position)._tag)).toEqual([
      "Repeated",
      "Repeated",
      "Repeated"
    ])
    expect(tracker.standing.records).toBe(3)
  })

  it("a position below the newest that was never admitted is refused", () => {
    const tracker = openTracker()
    enterAll(tracker, 1, 5)
    expect(admit(tracker, 3)).toEqual({
      _tag: "Refused",
      refusal: { _tag: "OutOfOrder", position: 3n, newest: 5n }
    })
  })

  it("worker-W26: reports of another epoch, and all after the fence, change nothing", () => {
    const tracker = openTracker()
    const record = enter(tracker, 1)
    expect(tracker.complete(record, epoch - 1)).toBe("Stale")
    tracker.fence()
    expect(tracker.complete(record, epoch)).toBe("Stale")
    expect(tracker.fail(record, epoch)).toEqual({ _tag: "Ignored", outcome: "Stale" })
    expect(admit(tracker, 2)).toEqual({ _tag: "Stale" })
    expect(checkpoint(tracker).position).toBeUndefined()
    expect(tracker.counters.staleReports).toBe(3)
  })
})
