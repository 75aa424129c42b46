/**
 * Each record once, where segments overlap.
 *
 * Segments overlap after a crash between sealing and the checkpoint, and where a part of one was
 * tried again. They come in order of their first positions; what stands before the next segment's
 * first position can go, the rest is held and merged with it. Without overlap one segment is held.
 */
import type { SegmentRecord } from "@holdfast/segment"

const compareRecords = (left: SegmentRecord, right: SegmentRecord): number =>
  left.position < right.position ? -1 : left.position > right.position ? 1 : left.part - right.part

const mergeDistinct = (
  left: ReadonlyArray<SegmentRecord>,
  right: ReadonlyArray<SegmentRecord>
): ReadonlyArray<SegmentRecord> => {
  const merged: Array<SegmentRecord> = []
  let leftAt = 0
  let rightAt = 0
  for (;;) {
    const leftRecord = left[leftAt]
    const rightRecord = right[rightAt]
    if (leftRecord === undefined && rightRecord === undefined) return merged
    const order =
      leftRecord === undefined
        ? 1
        : rightRecord === undefined
          ? -1
          : compareRecords(leftRecord, rightRecord)
    if (order <= 0 && leftRecord !== undefined) merged.push(leftRecord)
    else if (rightRecord !== undefined) merged.push(rightRecord)
    if (order <= 0) leftAt++
    if (order >= 0) rightAt++
  }
}

/** How many records stand before a position: binary search. */
const countBefore = (records: ReadonlyArray<SegmentRecord>, position: bigint): number => {
  let low = 0
  let high = records.length
  while (low < high) {
    const middle = (low + high) >>> 1
    const record = records[middle]
    if (record !== undefined && record.position < position) low = middle + 1
    else high = middle
  }
  return low
}

/** Takes the next segment's records: what can go now, and what is held on to. */
export const takeSegment = (
  held: ReadonlyArray<SegmentRecord>,
  next: { readonly first: bigint; readonly records: ReadonlyArray<SegmentRecord> }
): {
  readonly ready: ReadonlyArray<SegmentRecord>
  readonly held: ReadonlyArray<SegmentRecord>
} => {
  const before = countBefore(held, next.first)
  if (before === held.length) return { ready: held, held: next.records }
  return {
    ready: held.slice(0, before),
    held: mergeDistinct(held.slice(before), next.records)
  }
}
