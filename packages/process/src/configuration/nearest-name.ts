/** The known name that an unknown one was probably meant to be. */

/** The nearest known name, or undefined when none is near. */
export const nearestName = (name: string, known: ReadonlyArray<string>): string | undefined => {
  const near = known
    .map((other) => ({ other, distance: editDistance(name.toLowerCase(), other.toLowerCase()) }))
    .filter(({ distance }) => distance <= Math.max(2, Math.floor(name.length / 3)))
    .sort((one, another) => one.distance - another.distance)
  return near[0]?.other
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
