/** Orders and searches of sorted arrays. */

/** Compares byte strings bytewise; a prefix comes first. */
export const compareBytes = (left: Uint8Array, right: Uint8Array): number => {
  const length = Math.min(left.length, right.length)
  for (let index = 0; index < length; index += 1) {
    const difference = (left[index] ?? 0) - (right[index] ?? 0)
    if (difference !== 0) return difference
  }
  return left.length - right.length
}

/** The first index whose item is not before the sought one; O(log n). */
export const lowerBound = <A>(sorted: ReadonlyArray<A>, isBefore: (item: A) => boolean): number => {
  let low = 0
  let high = sorted.length
  while (low < high) {
    const middle = (low + high) >>> 1
    const item = sorted[middle]
    if (item !== undefined && isBefore(item)) low = middle + 1
    else high = middle
  }
  return low
}
