/**
 * The open segments of a shard: what goes into which, and when one is sealed.
 *
 *     first attempts, in rising order ─▶ fresh ─▶ complete segments
 *     later attempts, in any order    ─▶ late  ─▶ incomplete segments
 *
 * A complete segment claims that it holds every record between its first and last position: a
 * successor builds on that after a crash, and a longer one takes the place of a shorter. So:
 * 1. Only first attempts go into complete segments, and only beyond everything that was finished
 *    before the shard was opened: in between, records are missing that are kept elsewhere.
 * 2. No complete segment reaches across a record that was refused, whole or in part: it would claim
 *    to hold it. What is left of that record goes the way of later attempts.
 * 3. The parts of a record that come together are in one segment, however full it is: positions
 *    name records, and no position is begun in one complete segment and ended in another.
 * 4. A segment is sealed when it is full, old, or flushed; its records are in it once.
 */
import type { ArchiveEntry } from "@holdfast/catalogue"
import type { Disposition, OfferedRecord } from "@holdfast/service-worker"
import { recordRefusal } from "@holdfast/segment"
import { asStored, OpenSegment, type SegmentJob } from "./open-segment.ts"

/** What taking a batch led to: segments to store, and records that can never be stored. */
export interface Taken {
  readonly jobs: ReadonlyArray<SegmentJob>
  readonly refused: ReadonlyArray<Disposition>
}

/** Which open segments to seal. */
export type SealWhich = { readonly _tag: "All" } | { readonly _tag: "Old"; readonly now: bigint }

/** What taking a batch has led to so far. */
interface Taking {
  readonly jobs: Array<SegmentJob>
  readonly refused: Array<Disposition>
}

/** Where a record goes that fits into segments, and what that may seal. */
interface Placing {
  readonly position: bigint
  readonly now: bigint
  readonly jobs: Array<SegmentJob>
}

const refusalOf = ({ ordinal, part }: OfferedRecord, reason: string): Disposition => {
  const failed = { _tag: "Failed", ordinal, reason, fatal: true } as const
  return part === undefined ? failed : { ...failed, part }
}

/** How many offers make the record whole. */
const partsOf = ([first]: ReadonlyArray<OfferedRecord>): number => first?.part?.total ?? 1

/** The open segments of one shard. A mutable edit that never escapes its pipeline. */
export class Lanes {
  readonly #shard: string
  /** Everything finished before the opening lies at or below it. */
  readonly #finishedUpTo: bigint | undefined
  #archive: ArchiveEntry
  #fresh: OpenSegment | undefined
  #late: OpenSegment | undefined
  #lateLast = -1n

  constructor(options: {
    readonly shard: string
    readonly archive: ArchiveEntry
    readonly finishedUpTo: bigint | undefined
  }) {
    this.#shard = options.shard
    this.#archive = options.archive
    this.#finishedUpTo = options.finishedUpTo
  }

  /** New settings hold for segments that begin from now on. */
  useArchive(archive: ArchiveEntry): void {
    this.#archive = archive
  }

  get archive(): ArchiveEntry {
    return this.#archive
  }

  /** Takes a batch, whole. */
  take(batch: ReadonlyArray<OfferedRecord>, now: bigint): Taken {
    const taken: Taking = { jobs: [], refused: [] }
    let begin = 0
    for (let end = 1; end <= batch.length; end++) {
      if (end < batch.length && batch[end]!.ordinal === batch[begin]!.ordinal) continue
      const one = batch[begin]!
      if (one.part === undefined) this.#takeWhole(one, now, taken)
      else this.#takeParts(batch.slice(begin, end), now, taken)
      begin = end
    }
    return taken
  }

  /** Seals open segments. */
  seal(which: SealWhich): ReadonlyArray<SegmentJob> {
    const jobs: Array<SegmentJob> = []
    const isDue = (segment: OpenSegment | undefined): boolean => {
      if (segment === undefined) return false
      switch (which._tag) {
        case "All":
          return true
        case "Old":
          return segment.isOld(which.now)
      }
    }
    if (isDue(this.#fresh)) this.#sealFresh(jobs)
    if (isDue(this.#late)) this.#sealLate(jobs)
    return jobs
  }

  #takeWhole(one: OfferedRecord, now: bigint, { jobs, refused }: Taking): void {
    const { position } = one.record
    const isFirst = one.attempt === 1
    const refusal = recordRefusal(asStored(one))
    if (refusal !== undefined) {
      refused.push(refusalOf(one, refusal.message))
      if (isFirst) this.#sealFresh(jobs)
    } else if (isFirst) {
      this.#freshFor({ position, now, jobs }).append(one)
      this.#sealFullFresh(jobs)
    } else {
      this.#lateFor({ position, now, jobs }).append(one)
      this.#sealFullLate(jobs)
    }
  }

  /** Takes the parts of one record that came. */
  #takeParts(offered: ReadonlyArray<OfferedRecord>, now: bigint, { jobs, refused }: Taking): void {
    const fitting: Array<OfferedRecord> = []
    for (const one of offered) {
      const reason = recordRefusal(asStored(one))?.message
      if (reason === undefined) fitting.push(one)
      else refused.push(refusalOf(one, reason))
    }
    const [first] = fitting
    const isWhole = fitting.length === offered.length && offered.length === partsOf(offered)
    if (offered[0]!.attempt === 1 && !isWhole) this.#sealFresh(jobs)
    if (first === undefined) return
    const placing = { position: first.record.position, now, jobs }
    if (first.attempt === 1 && isWhole) {
      const segment = this.#freshFor(placing)
      for (const one of fitting) segment.append(one)
      this.#sealFullFresh(jobs)
    } else {
      const segment = this.#lateFor(placing)
      for (const one of fitting) segment.append(one)
      this.#sealFullLate(jobs)
    }
  }

  /** The segment that takes a first attempt at this position. */
  #freshFor({ jobs, now, position }: Placing): OpenSegment {
    const isBeyond = this.#finishedUpTo === undefined || position > this.#finishedUpTo
    if (isBeyond && this.#fresh?.options.complete === false) this.#sealFresh(jobs)
    this.#fresh ??= this.#open(isBeyond, now)
    return this.#fresh
  }

  /** The segment that takes a later attempt at this position, or what is left of a first one. */
  #lateFor({ jobs, now, position }: Placing): OpenSegment {
    if (position <= this.#lateLast) this.#sealLate(jobs)
    this.#late ??= this.#open(false, now)
    this.#lateLast = position
    return this.#late
  }

  #sealFullFresh(jobs: Array<SegmentJob>): void {
    if (this.#fresh?.isFull === true) this.#sealFresh(jobs)
  }

  #sealFullLate(jobs: Array<SegmentJob>): void {
    if (this.#late?.isFull === true) this.#sealLate(jobs)
  }

  #open(complete: boolean, opened: bigint): OpenSegment {
    return new OpenSegment({ archive: this.#archive, shard: this.#shard, complete, opened })
  }

  #sealFresh(jobs: Array<SegmentJob>): void {
    if (this.#fresh !== undefined && !this.#fresh.isEmpty) jobs.push(this.#fresh.seal())
    this.#fresh = undefined
  }

  #sealLate(jobs: Array<SegmentJob>): void {
    if (this.#late !== undefined && !this.#late.isEmpty) jobs.push(this.#late.seal())
    this.#late = undefined
    this.#lateLast = -1n
  }
}
