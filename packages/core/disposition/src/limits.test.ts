import { describe, expect, it } from "vitest"
import { checkpoint } from "./checkpoint.ts"
import { invariants } from "./invariants.ts"
import {
  admit,
  completeAll,
  enter,
  enterAll,
  epoch,
  openTracker
} from "./testing/tracker-notation.ts"

const refusedAt = (admission: ReturnType<typeof admit>): string =>
  admission._tag === "Refused" && admission.refusal._tag === "LimitReached"
    ? admission.refusal.limit
    : admission._tag

describe("limits", () => {
  it("worker-W13: one finished record makes room for one", () => {
    const tracker = openTracker({ limits: { records: 2 } })
    enterAll(tracker, 1, 2)
    expect(refusedAt(admit(tracker, 3))).toBe("records")
    completeAll(tracker, 2)
    expect(admit(tracker, 3)._tag).toBe("Admitted")
    expect(refusedAt(admit(tracker, 4))).toBe("records")
  })

  it("worker-W12: items count, declared or learned", () => {
    const tracker = openTracker({ limits: { items: 5 } })
    enter(tracker, 1, 3)
    expect(refusedAt(admit(tracker, 2, 3))).toBe("items")
    const second = enter(tracker, 2)
    tracker.completePart(second, epoch, { index: 0, total: 4 })
    expect(tracker.standing.items).toBe(6)
    expect(refusedAt(admit(tracker, 3))).toBe("items")
    for (const index of [1, 2, 3]) tracker.completePart(second, epoch, { index, total: 4 })
    expect(admit(tracker, 3)._tag).toBe("Admitted")
  })

  it("bytes count, and one record over the limit passes alone", () => {
    const tracker = openTracker({ limits: { bytes: 10 } })
    const large = tracker.admit({ position: 1n, bytes: 50, seenAt: 0 })
    expect(large._tag).toBe("Admitted")
    expect(refusedAt(admit(tracker, 2))).toBe("bytes")
    completeAll(tracker, 1)
    enterAll(tracker, 2, 3)
    expect(refusedAt(tracker.admit({ position: 4n, bytes: 9, seenAt: 0 }))).toBe("bytes")
  })

  it("worker-W17, worker-C4: one record that never finishes stops intake at the span", () => {
    const tracker = openTracker({ limits: { span: 1_000 } })
    tracker.admit({ position: 0n, bytes: 1, seenAt: 123 })
    let position = 1
    for (; admit(tracker, position)._tag === "Admitted"; position++) completeAll(tracker, position)
    expect(position).toBe(1_000)
    expect(refusedAt(admit(tracker, position))).toBe("span")
    expect(refusedAt(admit(tracker, position, 0))).toBe("span")
    expect(tracker.standing).toMatchObject({ span: 1_000, records: 1, finishedAbove: 999 })
    expect(tracker.standing.oldest).toMatchObject({ position: 0n, seenAt: 123 })
    expect(invariants(tracker)).toEqual([])
  })

  it("worker-A12: with a sink that is down, intake stops and the position stays", () => {
    const tracker = openTracker({ limits: { records: 10 } })
    for (let position = 0; position < 100; position++) {
      const admission = admit(tracker, position)
      if (admission._tag === "Admitted") tracker.fail(admission.ordinal, epoch)
    }
    expect(tracker.standing).toMatchObject({ records: 10, failing: 10 })
    expect(tracker.counters.refusals).toBe(90)
    expect(checkpoint(tracker).position).toBeUndefined()
  })

  it("worker-C7: records that wait for a retry count against the limit", () => {
    const tracker = openTracker({ limits: { records: 2 } })
    for (const ordinal of enterAll(tracker, 1, 2)) tracker.fail(ordinal, epoch)
    expect(refusedAt(admit(tracker, 3))).toBe("records")
  })

  it("worker-C5: records laid aside make room and are counted apart", () => {
    const tracker = openTracker({ limits: { records: 2 } })
    const first = enter(tracker, 1)
    const second = enter(tracker, 2)
    tracker.fail(first, epoch)
    expect(tracker.settle(first, epoch, "dead-lettered")).toBe("Finished")
    expect(tracker.settle(second, epoch, "skipped")).toBe("Finished")
    expect(tracker.counters).toMatchObject({ deadLettered: 1, skipped: 1, finished: 2 })
    expect(tracker.standing).toMatchObject({ failing: 0, items: 0, bytes: 0 })
    expect(checkpoint(tracker).position).toBe(2n)
  })

  it("a record over what can ever be admitted is refused for good", () => {
    const tracker = openTracker({ limits: { partsPerRecord: 10 } })
    expect(admit(tracker, 1, 11)).toEqual({
      _tag: "Refused",
      refusal: { _tag: "TooLarge", what: "parts", maximum: 10 }
    })
    expect(tracker.admit({ position: 1n, bytes: 2 ** 32, seenAt: 0 })).toMatchObject({
      refusal: { _tag: "TooLarge", what: "bytes" }
    })
    const record = enter(tracker, 1)
    expect(tracker.completePart(record, epoch, { index: 0, total: 11 })).toBe("TooManyParts")
    expect(tracker.expect(record, epoch, 11)).toBe("TooManyParts")
  })

  it("the stuck records are named, oldest first", () => {
    const tracker = openTracker()
    enterAll(tracker, 1, 2, 3, 4)
    completeAll(tracker, 2)
    expect(tracker.unfinished(2).map(({ position }) => position)).toEqual([1n, 3n])
    expect(tracker.unfinished(9).map(({ position }) => position)).toEqual([1n, 3n, 4n])
  })

  it("failed attempts are counted by item and forgotten when it succeeds", () => {
    const tracker = openTracker()
    const record = enter(tracker, 1)
    const attempt = (index: number) => tracker.fail(record, epoch, { part: { index, total: 2 } })
    expect([attempt(0), attempt(0), attempt(1)]).toEqual([
      { _tag: "Failing", attempt: 1, attempts: 1 },
      { _tag: "Failing", attempt: 2, attempts: 2 },
      { _tag: "Failing", attempt: 1, attempts: 1 }
    ])
    expect(tracker.standing.oldest?.failedAttempts).toBe(2)
    tracker.completePart(record, epoch, { index: 0, total: 2 })
    expect(tracker.standing.oldest?.failedAttempts).toBe(1)
    expect(attempt(0)).toEqual({ _tag: "Ignored", outcome: "Repeated" })
    tracker.completePart(record, epoch, { index: 1, total: 2 })
    expect(tracker.standing.failing).toBe(0)
  })

  it("an outage uses up no attempt of an item, and is counted by itself", () => {
    const tracker = openTracker()
    const record = enter(tracker, 1)
    const attempt = (isOutage: boolean) => tracker.fail(record, epoch, { isOutage })
    expect([attempt(true), attempt(true), attempt(false), attempt(true)]).toEqual([
      { _tag: "Failing", attempt: 1, attempts: 1 },
      { _tag: "Failing", attempt: 2, attempts: 2 },
      { _tag: "Failing", attempt: 1, attempts: 3 },
      { _tag: "Failing", attempt: 3, attempts: 4 }
    ])
    expect(tracker.standing.oldest).toMatchObject({ failedAttempts: 1, outages: 3 })
    expect(tracker.standing.failing).toBe(1)
  })
})
