/** A segment that still takes records, and what it finishes when it is stored. */
import { type ArchiveEntry, drawnNames, makeTagDrawer } from "@holdfast/catalogue"
import {
  cataloguePlatform,
  ownerAttributes,
  segmentWriting,
  type SegmentOwner
} from "@holdfast/client"
import { type NewRecord, type SealedSegment, SegmentBuilder } from "@holdfast/segment"
import type { OfferedRecord } from "@holdfast/service-worker"
import { Result } from "effect"
import { SegmentContents } from "./segment-contents.ts"

/** A segment file with whose it is and which records it finishes. */
export interface SegmentJob {
  readonly owner: SegmentOwner
  readonly sealed: SealedSegment
  readonly contents: SegmentContents
  readonly archive: ArchiveEntry
}

/** A record as segments hold it: user records keep their place in their message. */
export const asStored = ({ part, record }: OfferedRecord): NewRecord =>
  part === undefined ? record : { ...record, part: part.index }

/** What makes one. */
export interface OpenSegmentOptions {
  readonly archive: ArchiveEntry
  readonly shard: string
  readonly complete: boolean
  /** Monotonic nanoseconds. */
  readonly opened: bigint
}

/**
 * Takes records until it is full or old; all of its limits are those of its archive when it began.
 */
export class OpenSegment {
  readonly options: OpenSegmentOptions
  readonly #builder: SegmentBuilder
  readonly #draw: ReturnType<typeof makeTagDrawer>
  readonly #contents = new SegmentContents()
  readonly #owner: SegmentOwner

  constructor(options: OpenSegmentOptions) {
    const { origin, rules, settings } = options.archive
    this.options = options
    this.#owner = {
      archive: origin.name,
      shard: options.shard,
      rules,
      complete: options.complete
    }
    this.#draw = makeTagDrawer(settings.tags, cataloguePlatform)
    this.#builder = new SegmentBuilder({
      platform: segmentWriting(settings.compression),
      tagNames: drawnNames(settings.tags),
      attributes: ownerAttributes(this.#owner),
      limits: { tagValuesMax: settings.tagValuesMax }
    })
  }

  /** Takes a record that a segment can hold, behind all that it took before. */
  append(offered: OfferedRecord): void {
    const { record } = offered
    const taken = this.#builder.append(asStored(offered), this.#draw(record))
    if (Result.isFailure(taken)) throw new Error(`a segment: ${taken.failure.message}`)
    this.#contents.add(offered)
  }

  get isEmpty(): boolean {
    return this.#builder.count === 0
  }

  get isFull(): boolean {
    const { bytes, records } = this.options.archive.settings.segments
    return this.#builder.rawBytes >= bytes || this.#builder.count >= records
  }

  /** Whether it was opened so long ago that it is to be sealed as it is. */
  isOld(now: bigint): boolean {
    const { ageMs } = this.options.archive.settings.segments
    return now - this.options.opened >= BigInt(ageMs) * 1_000_000n
  }

  /** The file; the segment takes nothing more. It must not be empty. */
  seal(): SegmentJob {
    const sealed = Result.getOrThrow(this.#builder.seal())
    return {
      owner: this.#owner,
      sealed,
      contents: this.#contents,
      archive: this.options.archive
    }
  }
}
