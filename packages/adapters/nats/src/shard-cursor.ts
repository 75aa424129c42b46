/**
 * Where a reader stands in its stream: which records are new, which positions are missing, what is
 * newest. Arithmetic only.
 *
 * 1. A record at or below the cursor is a repeat and changes nothing.
 * 2. Without a filter every position of the stream belongs to the shard, so any that is passed
 *    over is a gap. With a filter the positions passed over may be other subjects'; only those
 *    below the stream's oldest are known to be gone, and whether the shard had records there is
 *    not known. They are reported all the same: a false alarm can be looked into, a silent loss
 *    cannot.
 * 3. A position is reported missing once.
 */
import type { Gap } from "@holdfast/records"
import { Option } from "effect"
import type { StreamFacts } from "./stream-facts.ts"

/** A reader's place. */
export interface ShardCursor {
  /** The newest position that was delivered or reported missing. */
  readonly position: () => bigint
  /** Takes note of the stream's bounds; answers the gap that they reveal. */
  readonly inspect: (facts: StreamFacts) => Gap | undefined
  /** Takes note of a record; answers whether it is new, and the gap before it. */
  readonly advance: (position: number, pending: number) => Advance
  /** The newest position that the stream is known to hold. */
  readonly newest: () => Option.Option<bigint>
}

/** What a record means. */
export interface Advance {
  readonly isNew: boolean
  readonly gap: Gap | undefined
}

const repeat: Advance = { isNew: false, gap: undefined }
const next: Advance = { isNew: true, gap: undefined }

/** Starts behind a position; `isFiltered` when only some of the stream's subjects are read. */
export const makeShardCursor = (options: {
  readonly after: bigint
  readonly isFiltered: boolean
}): ShardCursor => {
  const { isFiltered } = options
  let cursor = Number(options.after)
  let last = 0
  let isAtEnd = false

  const gapBefore = (position: number): Gap | undefined =>
    position > cursor + 1 ? { from: BigInt(cursor + 1), to: BigInt(position - 1) } : undefined

  const inspect = (facts: StreamFacts): Gap | undefined => {
    last = Math.max(last, Number(facts.last))
    const gap = gapBefore(Number(facts.first))
    if (gap !== undefined) cursor = Number(gap.to)
    return gap
  }

  const advance = (position: number, pending: number): Advance => {
    isAtEnd = pending === 0
    if (position <= cursor) return repeat
    last = Math.max(last, isFiltered ? position : position + pending)
    const gap = isFiltered ? undefined : gapBefore(position)
    cursor = position
    return gap === undefined ? next : { isNew: true, gap }
  }

  const newest = (): Option.Option<bigint> => {
    if (!isFiltered) return last > 0 ? Option.some(BigInt(last)) : Option.none()
    return isAtEnd && cursor > 0 ? Option.some(BigInt(cursor)) : Option.none()
  }
  return { position: () => BigInt(cursor), inspect, advance, newest }
}
