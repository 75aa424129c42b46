/**
 * The tag index: which partitions carry which tags, in one global order.
 *
 * 1. A record is in the index at most once; adding it again or removing it again changes nothing.
 * 2. `next(cursor)` is the smallest record that the cursor has not passed.
 * 3. A walk by pages is strictly increasing, ends, and yields exactly the accepted records that are
 *    in the index from its start to its end, whatever else comes and goes meanwhile.
 * 4. A page without `next` has looked at everything; a page with it has looked at everything
 *    before.
 */
import { fromByteString, toByteString } from "./byte-string.ts"
import { after } from "./cursor.ts"
import type { Cursor } from "./cursor.ts"
import { add, advance, emptyRecords, seek, structureViolations, take } from "./ordered-records.ts"
import type { OrderedRecords } from "./ordered-records.ts"
import { TAG_BYTES_MAX } from "./record.ts"
import type { IndexRecord, PartitionKey, Tag } from "./record.ts"

/** Records of the largest page. */
export const PAGE_RECORDS_MAX = 10_000

/** Records in order, and where to go on; no `next`: there is nothing more. */
export interface Page {
  readonly records: ReadonlyArray<IndexRecord>
  readonly next: Cursor | undefined
}

/** What a page is asked for. */
export interface PageOptions {
  readonly cursor: Cursor
  /** At most this many records, cut to 1 .. 10,000. */
  readonly limit: number
  /** Only tags before this one, see `prefixEnd`. */
  readonly until?: Tag | undefined
  /** Only records of these keys; others are passed over. */
  readonly accepts?: (key: PartitionKey) => boolean
  /** At most this many records are looked at, cut to at least `limit`; 100,000 if absent. */
  readonly examine?: number
}

/** Records looked at for one page if nothing else is said. */
const EXAMINE_DEFAULT = 100_000

/** An index in memory. Its records may be changed only through it. */
export interface TagIndex {
  readonly size: () => number
  /** Adds a record; answers whether it is new. A tag above 512 bytes is a programming error. */
  readonly insert: (record: IndexRecord) => boolean
  /** Removes a record; answers whether it was there. */
  readonly remove: (record: IndexRecord) => boolean
  /** Gives a partition these tags in place of those. */
  readonly replace: (options: {
    readonly key: PartitionKey
    readonly before: Iterable<Tag>
    readonly now: Iterable<Tag>
  }) => void
  readonly has: (record: IndexRecord) => boolean
  /** The first record that the cursor has not passed. */
  readonly next: (cursor: Cursor) => IndexRecord | undefined
  readonly page: (options: PageOptions) => Page
  /** What is wrong with the structure; empty when all is well. Linear in the records. */
  readonly invariants: () => ReadonlyArray<string>
}

const recordAt = (records: OrderedRecords, leaf: number, slot: number): IndexRecord | undefined => {
  const run = records.leaves[leaf]
  if (run === undefined) return undefined
  return { tag: fromByteString(run.tags[slot]!), key: run.keys[slot]! }
}

const pageOf = (records: OrderedRecords, options: PageOptions): Page => {
  const { accepts, cursor, until } = options
  const limit = Math.max(1, Math.min(PAGE_RECORDS_MAX, Math.floor(options.limit)))
  const examine = Math.max(limit, options.examine ?? EXAMINE_DEFAULT)
  const end = until === undefined ? undefined : toByteString(until)
  const place = seek(records, toByteString(cursor.tag), cursor.key, cursor.bound === "after")
  const found: Array<IndexRecord> = []
  let looked = 0
  let last: { readonly tag: string; readonly key: PartitionKey } | undefined
  for (;;) {
    const run = records.leaves[place.leaf]
    const tag = run?.tags[place.slot]
    const key = run?.keys[place.slot]
    if (tag === undefined || key === undefined) return { records: found, next: undefined }
    if (end !== undefined && tag >= end) return { records: found, next: undefined }
    if (last !== undefined && (found.length === limit || looked === examine)) {
      return { records: found, next: after({ tag: fromByteString(last.tag), key: last.key }) }
    }
    if (accepts === undefined || accepts(key)) found.push({ tag: fromByteString(tag), key })
    last = { tag, key }
    looked += 1
    advance(records, place)
  }
}

const checkedByteString = (tag: Tag): string => {
  if (tag.length > TAG_BYTES_MAX) {
    throw new Error(`a tag of ${tag.length} bytes reached the index; ${TAG_BYTES_MAX} is the most`)
  }
  return toByteString(tag)
}

/** An index of the given records, which may come in any order and more than once. */
export const makeTagIndex = (initial: Iterable<IndexRecord> = []): TagIndex => {
  const records = emptyRecords()
  const insert = ({ key, tag }: IndexRecord) => add(records, checkedByteString(tag), key)
  const remove = ({ key, tag }: IndexRecord) => take(records, toByteString(tag), key)
  for (const record of initial) insert(record)
  return {
    size: () => records.size,
    insert,
    remove,
    replace: ({ before, key, now }) => {
      const kept = new Set(Array.from(now, checkedByteString))
      for (const tag of before) {
        const text = toByteString(tag)
        if (!kept.has(text)) take(records, text, key)
      }
      for (const text of kept) add(records, text, key)
    },
    has: ({ key, tag }) => {
      const text = toByteString(tag)
      const { leaf, slot } = seek(records, text, key, false)
      const run = records.leaves[leaf]
      return run?.tags[slot] === text && run.keys[slot] === key
    },
    next: (cursor) => {
      const strictly = cursor.bound === "after"
      const { leaf, slot } = seek(records, toByteString(cursor.tag), cursor.key, strictly)
      return recordAt(records, leaf, slot)
    },
    page: (options) => pageOf(records, options),
    invariants: () => structureViolations(records)
  }
}
