/** What changed between two views of a state, where a view names each fact by a short key. */

/** A state as lines: what each named thing is now. Keys keep the order of the view. */
export type TraceView = ReadonlyMap<string, string>

/** One line for each fact that is new, different or gone, in the order of the views. */
export const changesBetween = (before: TraceView, after: TraceView): ReadonlyArray<string> => {
  const lines: Array<string> = []
  for (const [key, value] of after) {
    const earlier = before.get(key)
    if (earlier === value) continue
    lines.push(earlier === undefined ? `${key}: ${value}` : `${key}: ${earlier} => ${value}`)
  }
  for (const key of before.keys()) if (!after.has(key)) lines.push(`${key}: gone`)
  return lines
}
