/** Assertions: a broken invariant is a defect, never a typed error. */

/** A rule that this package keeps was broken: a defect in it or in how it is called. */
export class BrokenInvariant extends Error {
  override readonly name = "BrokenInvariant"
}

/** Throws when the condition does not hold. */
export const ensure: (condition: boolean, sentence: string) => asserts condition = (
  condition,
  sentence
) => {
  if (!condition) throw new BrokenInvariant(sentence)
}
