/**
 * A persistent queue: push at the end, drop at the front, both in constant time.
 *
 *   older    [ a b c ]           versions share one array; each sees its own window of it
 *   newer    [ a b c d ]         the newest pushes in place: no older window reaches there
 *
 * 1. A version never changes: a push in place lands behind the end of every older version, and a
 *    version that is not the newest copies before it pushes.
 * 2. Dropped items are released when they are more than half of the array.
 */

/** A window `start..end` of an array that versions share. */
export interface Sequence<A> {
  readonly items: Array<A>
  readonly start: number
  readonly end: number
}

const COMPACT_AT_MIN = 64

/** A sequence that takes the array as its own; the caller keeps no hold of it. */
export const sequenceOf = <A>(items: Array<A>): Sequence<A> => ({
  items,
  start: 0,
  end: items.length
})

/** How many items there are. */
export const sizeOf = <A>(sequence: Sequence<A>): number => sequence.end - sequence.start

/** The item at an index below the size. */
export const itemAt = <A>(sequence: Sequence<A>, index: number): A =>
  sequence.items[sequence.start + index] as A

/** The last item, if there is one. */
export const lastOf = <A>(sequence: Sequence<A>): A | undefined =>
  sequence.end === sequence.start ? undefined : sequence.items[sequence.end - 1]

/** With one item more at the end; the argument stays as it was. */
export const push = <A>(sequence: Sequence<A>, item: A): Sequence<A> => {
  if (sequence.items.length === sequence.end) {
    sequence.items.push(item)
    return { items: sequence.items, start: sequence.start, end: sequence.end + 1 }
  }
  const items = sequence.items.slice(sequence.start, sequence.end)
  items.push(item)
  return sequenceOf(items)
}

/** Without the first `count` items; the argument stays as it was. */
export const dropFirst = <A>(sequence: Sequence<A>, count: number): Sequence<A> => {
  if (count <= 0) return sequence
  const start = Math.min(sequence.start + count, sequence.end)
  if (start === sequence.end) return sequenceOf([])
  if (start > COMPACT_AT_MIN && start > sequence.end - start) {
    return sequenceOf(sequence.items.slice(start, sequence.end))
  }
  return { items: sequence.items, start, end: sequence.end }
}

/** A copy as an array of its own. */
export const toArray = <A>(sequence: Sequence<A>): Array<A> =>
  sequence.items.slice(sequence.start, sequence.end)
