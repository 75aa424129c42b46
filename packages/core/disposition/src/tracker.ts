/**
 * The tracker: every record of one shard, from its arrival until it has a disposition.
 *
 *     source ──admit──▶ [ window of ordinals ] ──▶ stages
 *                              ▲                      │
 *                              └── complete, part, fail ◀─┘
 *     checkpoint = everything below the oldest unfinished record + what is finished above it
 *
 * It is a mutable class on purpose: ten million records a second leave a hundred nanoseconds for an
 * arrival and its completion, which no persistent structure gives. Its surface is small,
 * synchronous and total; nothing inside it waits, reads a clock or throws on what a caller may do
 * wrong.
 *
 * 1. The low watermark never passes an unfinished record and never moves back.
 * 2. The order of completion changes nothing but the time at which the watermark moves.
 * 3. A repeat of anything, an arrival or a report, changes nothing but a counter.
 * 4. What is held is bounded by the limits, whatever fails or is never reported.
 * 5. Under another epoch than its own, or once fenced, it changes nothing.
 * 6. Arrivals and reports cost O(1); only a repeated arrival in a shard whose positions have gaps
 *    costs O(log span).
 */
import { ensure } from "./assertion.ts"
import { type CompletionMap, highestClaim, statusOf } from "./completion-map.ts"
import { describe, describeOpen } from "./describe.ts"
import { type Limits, limitReached, type Refusal, refusalFor } from "./limits.ts"
import { type Outcome, partFault, type PartReport } from "./outcome.ts"
import { type PartSetView, partsOf } from "./part-set.ts"
import {
  type Admission,
  type Arrival,
  asOrdinal,
  type Attempts,
  type Counters,
  type FailureOutcome,
  noCounts,
  type Ordinal,
  type Settlement,
  type Standing,
  type UnfinishedRecord
} from "./tracker-types.ts"
import { slotFinished, slotOpen, totalUnknown, Window } from "./window.ts"

/** How a tracker is made. */
export interface TrackerOptions {
  readonly limits: Limits
  /** The lease epoch that owns the shard; reports of another one are stale. */
  readonly epoch: number
  /** Everything up to here was finished by an earlier run; none when nothing was. */
  readonly after: bigint | undefined
  /** What an earlier run finished above it; its base must be `after`. */
  readonly restored?: CompletionMap | undefined
}

const admissionFinished: Admission = { _tag: "Finished" }
const admissionStale: Admission = { _tag: "Stale" }
const wholeRecord = -1
const noAttempts = { failed: 0, outages: 0 }

/** Accounts for the records of one shard under one epoch; see the module comment. */
export class Tracker {
  readonly limits: Limits
  readonly epoch: number
  /** What an earlier run finished; claims above the newest arrival are carried on from it. */
  readonly restored: CompletionMap | undefined
  /** The slots; for this package's own checkpoint and invariants. */
  readonly window = new Window()
  /** Failed attempts by record and part, of unfinished items only. */
  readonly failures = new Map<number, Attempts>()
  /** The highest position that the restored map says anything about. */
  private readonly restoredUpTo: bigint
  private fenced = false
  private low: bigint
  private newest: bigint
  private records = 0
  private items = 0
  private bytes = 0
  private readonly counts = noCounts()

  constructor(options: TrackerOptions) {
    ensure(
      options.restored === undefined || options.restored.base === options.after,
      "a completion map can only be restored above the checkpoint that it belongs to"
    )
    this.limits = options.limits
    this.epoch = options.epoch
    this.restored = options.restored
    this.restoredUpTo = (options.restored && highestClaim(options.restored)) ?? -1n
    this.low = options.after ?? -1n
    this.newest = this.low
  }

  /** Takes a record in, or says why not. */
  admit(arrival: Arrival): Admission {
    if (this.fenced) return admissionStale
    const { bytes, position } = arrival
    if (position <= this.newest) return this.admitRepeated(position)
    ensure(bytes >= 0, "the size of a record is not negative")
    if (this.restored !== undefined && position <= this.restoredUpTo) {
      const status = statusOf(this.restored, position)
      if (status._tag === "Finished") return this.admitFinished(position, true)
      const known = status._tag === "Partial" ? status.finished : undefined
      // Another number of parts than the earlier run saw: its marks cannot be trusted, do all
      // again.
      if (known !== undefined && (arrival.parts ?? known.total) === known.total) {
        return this.admitPartial(arrival, known)
      }
    }
    const parts = arrival.parts
    if (parts === 0) return this.admitFinished(position, false)
    const refusal = this.refusal(bytes, parts ?? 1)
    if (refusal !== undefined) return this.refuse(refusal)
    return { _tag: "Admitted", ordinal: this.enter(arrival, parts) }
  }

  /** Declares how many parts a record has; 0 finishes it. */
  expect(ordinal: Ordinal, epoch: number, total: number): Outcome {
    const outcome = this.check(ordinal, epoch)
    if (outcome !== undefined) return outcome
    const slot = ordinal & this.window.mask
    const known = this.window.totals[slot]!
    if (known === total) return this.repeated()
    if (known !== totalUnknown) return this.fault("TotalMismatch")
    if (!Number.isSafeInteger(total) || total < 0) return this.fault("PartOutOfRange")
    if (total > this.limits.partsPerRecord) return this.fault("TooManyParts")
    if (total === 0) return this.finish(ordinal, slot)
    this.split(slot, total)
    return "Counted"
  }

  /** Reports a record that was not split as done. */
  complete(ordinal: Ordinal, epoch: number): Outcome {
    const outcome = this.check(ordinal, epoch)
    if (outcome !== undefined) return outcome
    const slot = ordinal & this.window.mask
    if (this.window.totals[slot] !== totalUnknown) return this.fault("PartsExpected")
    return this.finish(ordinal, slot)
  }

  /** Reports one part as done; the first report fixes the total where none was declared. */
  completePart(ordinal: Ordinal, epoch: number, part: PartReport): Outcome {
    const outcome = this.check(ordinal, epoch)
    if (outcome !== undefined) return outcome
    const slot = ordinal & this.window.mask
    const fault = partFault(this.window.totals[slot]!, part, this.limits)
    if (fault !== undefined) return this.fault(fault)
    if (this.window.totals[slot] === totalUnknown) this.split(slot, part.total)
    if (!this.window.markPart(slot, part.index)) return this.repeated()
    this.items -= 1
    this.counts.partsFinished += 1
    if (this.window.remaining[slot] === 0) return this.finish(ordinal, slot)
    if (this.failures.size !== 0) this.forgetFailure(ordinal, part.index)
    return "Counted"
  }

  /**
   * Reports an attempt at a record, or at one of its parts, as failed; it stays unfinished. An
   * outage is counted apart: it uses up no attempt of the item.
   */
  fail(
    ordinal: Ordinal,
    epoch: number,
    failure: { readonly part?: PartReport; readonly isOutage?: boolean } = {}
  ): FailureOutcome {
    const { isOutage = false, part } = failure
    const outcome = this.checkFailure(ordinal, epoch, part)
    if (outcome !== undefined) return { _tag: "Ignored", outcome }
    const key = part?.index ?? wholeRecord
    const attempts: Attempts = this.failures.get(ordinal) ?? new Map()
    const { failed, outages } = attempts.get(key) ?? noAttempts
    const next = isOutage ? { failed, outages: outages + 1 } : { failed: failed + 1, outages }
    attempts.set(key, next)
    this.failures.set(ordinal, attempts)
    this.counts.failures += 1
    return {
      _tag: "Failing",
      attempt: isOutage ? next.outages : next.failed,
      attempts: next.failed + next.outages
    }
  }

  /** Lays a record aside, with whatever parts of it are missing, or one part: it is finished. */
  settle(ordinal: Ordinal, epoch: number, how: Settlement, part?: PartReport): Outcome {
    const outcome =
      part === undefined
        ? (this.check(ordinal, epoch) ?? this.finish(ordinal, ordinal & this.window.mask))
        : this.completePart(ordinal, epoch, part)
    if (outcome !== "Finished" && outcome !== "Counted") return outcome
    this.counts[how === "skipped" ? "skipped" : "deadLettered"] += 1
    return outcome
  }

  /** Ends the epoch: from now on every arrival and report is stale. */
  fence(): void {
    this.fenced = true
  }

  /** Whether {@link fence} was called. */
  get isFenced(): boolean {
    return this.fenced
  }

  /** Whether nothing is unfinished. */
  get isEmpty(): boolean {
    return this.records === 0
  }

  /** Everything up to here is finished; none when nothing is. */
  get lowWatermark(): bigint | undefined {
    return this.low < 0n ? undefined : this.low
  }

  /** The newest position that was admitted or restored below the checkpoint. */
  get newestPosition(): bigint | undefined {
    return this.newest < 0n ? undefined : this.newest
  }

  /** The ordinal under which an unfinished or finished position of the window was admitted. */
  find(position: bigint): Ordinal | undefined {
    const ordinal = this.window.find(position)
    return ordinal < 0 ? undefined : asOrdinal(ordinal)
  }

  /** The finished parts of an unfinished record; none while its total is unknown. */
  finishedParts(ordinal: Ordinal): PartSetView | undefined {
    const { head, next } = this.window
    return ordinal >= head && ordinal < next
      ? this.window.partsOf(ordinal & this.window.mask)
      : undefined
  }

  /** The unfinished records, oldest first, at most `limit`. O(span) at worst. */
  unfinished(limit: number): ReadonlyArray<UnfinishedRecord> {
    return describeOpen(this.window, this.failures, limit)
  }

  /** Where the tracker stands. O(1). */
  get standing(): Standing {
    const { head, span } = this.window
    return {
      lowWatermark: this.lowWatermark,
      newest: this.newestPosition,
      span,
      records: this.records,
      items: this.items,
      bytes: this.bytes,
      finishedAbove: span - this.records,
      failing: this.failures.size,
      oldest: span === 0 ? undefined : describe(this.window, this.failures, head),
      counters: this.counters
    }
  }

  /** Counts since the tracker was made. */
  get counters(): Counters {
    return { ...this.counts }
  }

  private admitRepeated(position: bigint): Admission {
    ensure(position >= 0n, "a position is not negative")
    if (position > this.low) {
      const ordinal = this.window.find(position)
      if (ordinal < 0) {
        return this.refuse({ _tag: "OutOfOrder", position, newest: this.newest })
      }
      if (this.window.stateAt(ordinal) === slotOpen) {
        this.counts.repeatedArrivals += 1
        return { _tag: "Repeated", ordinal: asOrdinal(ordinal) }
      }
    }
    this.counts.repeatedArrivals += 1
    return admissionFinished
  }

  private admitFinished(position: bigint, restored: boolean): Admission {
    if (this.window.span >= this.limits.span) return this.refuse(limitReached("span", this.limits))
    if (restored) this.counts.restored += 1
    this.counts.admitted += 1
    this.counts.finished += 1
    this.newest = position
    if (this.records === 0 && this.window.span === 0) {
      this.low = position
      this.window.head += 1
      this.window.next += 1
    } else {
      this.window.push(position, slotFinished)
    }
    return admissionFinished
  }

  private admitPartial(arrival: Arrival, finished: PartSetView): Admission {
    const refusal = this.refusal(arrival.bytes, finished.total - finished.count)
    if (refusal !== undefined) return this.refuse(refusal)
    const ordinal = this.enter(arrival, finished.total)
    const slot = ordinal & this.window.mask
    for (const index of partsOf(finished)) if (this.window.markPart(slot, index)) this.items -= 1
    return { _tag: "Resumed", ordinal, finished }
  }

  private enter(arrival: Arrival, parts: number | undefined): Ordinal {
    const window = this.window
    const ordinal = window.next
    const slot = window.push(arrival.position, slotOpen)
    window.bytes[slot] = arrival.bytes
    window.seenAt[slot] = arrival.seenAt
    window.totals[slot] = totalUnknown
    this.newest = arrival.position
    this.records += 1
    this.items += 1
    this.bytes += arrival.bytes
    this.counts.admitted += 1
    if (parts !== undefined) this.split(slot, parts)
    return asOrdinal(ordinal)
  }

  private refusal(bytes: number, items: number): Refusal | undefined {
    return refusalFor(this.limits, {
      records: this.records,
      items: this.items,
      bytes: this.bytes,
      span: this.window.span,
      arriving: { bytes, items }
    })
  }

  private refuse(refusal: Refusal): Admission {
    this.counts.refusals += 1
    return { _tag: "Refused", refusal }
  }

  private check(ordinal: number, epoch: number): "Stale" | "Unknown" | "Repeated" | undefined {
    const window = this.window
    if (epoch !== this.epoch || this.fenced) {
      this.counts.staleReports += 1
      return "Stale"
    }
    if (!(ordinal < window.next) || !Number.isSafeInteger(ordinal) || ordinal < 0) {
      this.counts.unknownReports += 1
      return "Unknown"
    }
    const isOpen = ordinal >= window.head && window.states[ordinal & window.mask] === slotOpen
    return isOpen ? undefined : this.repeated()
  }

  private checkFailure(
    ordinal: Ordinal,
    epoch: number,
    part: PartReport | undefined
  ): Exclude<Outcome, "Finished" | "Counted"> | undefined {
    const outcome = this.check(ordinal, epoch)
    if (outcome !== undefined || part === undefined) return outcome
    const slot = ordinal & this.window.mask
    const fault = partFault(this.window.totals[slot]!, part, this.limits)
    if (fault !== undefined) return this.fault(fault)
    if (this.window.totals[slot] === totalUnknown) this.split(slot, part.total)
    return this.window.hasPart(slot, part.index) ? this.repeated() : undefined
  }

  private split(slot: number, total: number): void {
    this.window.split(slot, total)
    this.items += total - 1
  }

  private finish(ordinal: number, slot: number): Outcome {
    const window = this.window
    window.states[slot] = slotFinished
    const total = window.totals[slot]!
    this.records -= 1
    this.bytes -= window.bytes[slot]!
    this.items -= total === totalUnknown ? 1 : window.remaining[slot]!
    if (total !== totalUnknown) window.dropParts(slot)
    if (this.failures.size !== 0) this.failures.delete(ordinal)
    this.counts.finished += 1
    if (ordinal === window.head) this.advance()
    return "Finished"
  }

  private advance(): void {
    const window = this.window
    while (window.span > 0 && window.stateAt(window.head) === slotFinished) {
      this.low = window.shift()
    }
  }

  private forgetFailure(ordinal: number, part: number): void {
    const attempts = this.failures.get(ordinal)
    if (attempts === undefined) return
    attempts.delete(part)
    if (attempts.size === 0) this.failures.delete(ordinal)
  }

  private repeated(): "Repeated" {
    this.counts.repeatedReports += 1
    return "Repeated"
  }

  private fault<F extends Outcome>(outcome: F): F {
    this.counts.protocolFaults += 1
    return outcome
  }
}
