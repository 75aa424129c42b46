/** The sentence for an option that does not exist. */

/** Names the unknown option and the nearest known one. */
export const unknownOption = (name: string, known: ReadonlyArray<string>): string => {
  const nearest = known
    .map((other) => ({ other, distance: editDistance(name.toLowerCase(), other.toLowerCase()) }))
    .reduce((best, one) => (one.distance < best.distance ? one : best))
  return nearest.distance <= Math.max(2, name.length / 3)
    ? `there is no option "${name}"; did you mean "${nearest.other}"?`
    : `there is no option "${name}"; there are ${known.join(", ")}`
}

/** How many characters must be inserted, removed or replaced (Wagner and Fischer, 1974). */
const editDistance = (one: string, other: string): number => {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index)
  for (let at = 1; at <= one.length; at++) {
    const next = [at]
    for (let to = 1; to <= other.length; to++) {
      const replaced = (row[to - 1] ?? 0) + (one[at - 1] === other[to - 1] ? 0 : 1)
      next.push(Math.min(replaced, (row[to] ?? 0) + 1, (next[to - 1] ?? 0) + 1))
    }
    row = next
  }
  return row[other.length] ?? 0
}
