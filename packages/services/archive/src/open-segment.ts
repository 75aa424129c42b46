/** A segment that still takes records. */
import { type ArchiveEntry, drawnNames, makeTagDrawer } from "@holdfast/catalogue"
import {
  cataloguePlatform,
  ownerAttributes,
  segmentWriting,
  type SegmentOwner
} from "@holdfast/client"
import { type SealedSegment, SegmentBuilder } from "@holdfast/segment"
import type { OfferedRecord } from "@holdfast/service-worker"
import { Result } from "effect"

type Ordinal = OfferedRecord["ordinal"]

/** A segment file with whose it is and which records it finishes. */
export interface SegmentJob {
  readonly owner: SegmentOwner
  readonly sealed: SealedSegment
  readonly ordinals: ReadonlyArray<Ordinal>
  readonly archive: ArchiveEntry
}

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
  readonly #ordinals: Array<Ordinal> = []
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

  /** Takes a record, or says in a sentence why it can never be in a segment of this lane. */
  append({ ordinal, record }: OfferedRecord): string | undefined {
    const taken = this.#builder.append({ ...record, part: 0 }, this.#draw(record))
    if (Result.isFailure(taken)) return taken.failure.message
    this.#ordinals.push(ordinal)
    return undefined
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
      ordinals: this.#ordinals,
      archive: this.options.archive
    }
  }
}
