/** Throws when a rule that this package itself guarantees is broken; never used for bad input. */
export function assertThat(condition: boolean, sentence: string): asserts condition {
  if (!condition) throw new Error(`broken invariant in chunk-map: ${sentence}`)
}

/** Marks a branch that the types already exclude. */
export const unreachable = (value: never): never => {
  throw new Error(`broken invariant in chunk-map: unexpected ${JSON.stringify(value)}`)
}
