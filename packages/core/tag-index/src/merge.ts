/**
 * Merging the pages of several holders into one.
 *
 *   holder 1   a  b  c  d |              cut after d
 *   holder 2   b     e  f  g  h ...      cut after h
 *   merged     a  b  c  d                e waits: holder 1 may have something before it
 *
 * 1. The merged page ascends strictly; a record that several holders have appears once.
 * 2. No record beyond the lowest cut is emitted, so a walk over merged pages misses nothing that
 *    a holder had not yet shown, and never goes back.
 * 3. The merged `next` is the lowest cut, or just after the last emitted record if the limit cut
 *    first; there is none only when no page was cut and nothing was left over.
 */
import { after, compareCursors, isPast } from "./cursor.ts"
import type { Cursor } from "./cursor.ts"
import { compareRecords } from "./record.ts"
import type { IndexRecord } from "./record.ts"
import type { Page } from "./tag-index.ts"

/** The lowest of the cursors at which pages were cut. */
const lowestCut = (pages: ReadonlyArray<Page>): Cursor | undefined => {
  let lowest: Cursor | undefined
  for (const { next } of pages) {
    if (next === undefined) continue
    if (lowest === undefined || compareCursors(next, lowest) < 0) lowest = next
  }
  return lowest
}

/**
 * One page of at most `limit` records out of pages that were all asked from one cursor. Costs
 * `O(n log pages)` for `n` records in all, as sorting joins the runs it finds.
 */
export const mergePages = (options: {
  readonly pages: ReadonlyArray<Page>
  readonly limit: number
}): Page => {
  const { limit, pages } = options
  const cut = lowestCut(pages)
  const emitted: Array<IndexRecord> = []
  for (const record of pages.flatMap(({ records }) => records).sort(compareRecords)) {
    if (cut !== undefined && !isPast(cut, record)) break
    const last = emitted.at(-1)
    if (last !== undefined && compareRecords(last, record) === 0) continue
    if (last !== undefined && emitted.length >= limit)
      return { records: emitted, next: after(last) }
    emitted.push(record)
  }
  return { records: emitted, next: cut }
}
