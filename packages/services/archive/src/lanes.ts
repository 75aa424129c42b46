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
 * 2. No complete segment reaches across a record that was refused: it would claim to hold it.
 * 3. A segment is sealed when it is full, old, or flushed; its records are in it once.
 */
import type { ArchiveEntry } from "@holdfast/catalogue"
import type { Disposition, OfferedRecord } from "@holdfast/service-worker"
import { OpenSegment, type SegmentJob } from "./open-segment.ts"

/** What taking a batch led to: segments to store, and records that can never be stored. */
export interface Taken {
  readonly jobs: ReadonlyArray<SegmentJob>
  readonly refused: ReadonlyArray<Disposition>
}

/** Which open segments to seal. */
export type SealWhich = { readonly _tag: "All" } | { readonly _tag: "Old"; readonly now: bigint }

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
    const jobs: Array<SegmentJob> = []
    const refused: Array<Disposition> = []
    for (const offered of batch) {
      const reason =
        offered.attempt > 1
          ? this.#takeLate(offered, now, jobs)
          : this.#takeFresh(offered, now, jobs)
      if (reason === undefined) continue
      refused.push({ _tag: "Failed", ordinal: offered.ordinal, reason, fatal: true })
    }
    return { jobs, refused }
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

  #takeFresh(offered: OfferedRecord, now: bigint, jobs: Array<SegmentJob>): string | undefined {
    const { position } = offered.record
    const isBeyond = this.#finishedUpTo === undefined || position > this.#finishedUpTo
    if (isBeyond && this.#fresh?.options.complete === false) this.#sealFresh(jobs)
    this.#fresh ??= this.#open(isBeyond, now)
    const reason = this.#fresh.append(offered)
    if (reason !== undefined || this.#fresh.isFull) this.#sealFresh(jobs)
    return reason
  }

  #takeLate(offered: OfferedRecord, now: bigint, jobs: Array<SegmentJob>): string | undefined {
    const { position } = offered.record
    if (position <= this.#lateLast) this.#sealLate(jobs)
    this.#late ??= this.#open(false, now)
    const reason = this.#late.append(offered)
    if (reason === undefined) this.#lateLast = position
    if (this.#late.isFull) this.#sealLate(jobs)
    return reason
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
