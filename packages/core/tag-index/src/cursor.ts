/**
 * Cursors: where a walk over the records stands.
 *
 *        at r ─┐┌─ after r
 *   ... p   q  ▼▼  s   t ...         (r is between the two)
 *              r
 *
 * A cursor lies just before or just after a possible record, whether or not that record exists, so
 * a walk goes on correctly when records come and go.
 */
import { Schema } from "effect"
import { compareRecords, FIRST_KEY, PartitionKey, Tag } from "./record.ts"
import type { IndexRecord } from "./record.ts"

/**
 * Where a walk stands: `at` the possible record (tag, key), which it has yet to see, or `after`.
 */
export const Cursor = Schema.Struct({
  tag: Tag,
  key: PartitionKey,
  bound: Schema.Literals(["at", "after"])
})
/** Where a walk stands. */
export type Cursor = typeof Cursor.Type

/** Before the first record that carries a tag. */
export const atTag = (tag: Tag): Cursor => ({ tag, key: FIRST_KEY, bound: "at" })

/** Before every record. */
export const START: Cursor = atTag(new Uint8Array())

/** Before a record. */
export const at = (record: IndexRecord): Cursor => ({ ...record, bound: "at" })

/** Just after a record. */
export const after = (record: IndexRecord): Cursor => ({ ...record, bound: "after" })

/** Whether a walk that stands at the cursor has left the record behind. */
export const isPast = (cursor: Cursor, record: IndexRecord): boolean => {
  const order = compareRecords(record, cursor)
  return order < 0 || (order === 0 && cursor.bound === "after")
}

/** Orders cursors by where they stand: negative, zero or positive. */
export const compareCursors = (a: Cursor, b: Cursor): number =>
  compareRecords(a, b) || (a.bound === b.bound ? 0 : a.bound === "at" ? -1 : 1)
