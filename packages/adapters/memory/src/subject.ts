/** Subjects as a broker reads them: tokens between dots, `*` for one token, `>` for the rest. */

const tokenPattern = /^[^\s.*>]+$/

/** Whether a message can be sent to this subject: non-empty literal tokens only. */
export const isLiteralSubject = (subject: string): boolean =>
  subject.split(".").every((token) => tokenPattern.test(token))

/** Whether a listener can ask for this subject: literal tokens, `*`, and `>` as the last token. */
export const isSubjectPattern = (subject: string): boolean => {
  const tokens = subject.split(".")
  return tokens.every(
    (token, index) =>
      token === "*" || (token === ">" && index === tokens.length - 1) || tokenPattern.test(token)
  )
}

/** Whether a literal subject falls under a pattern; O(tokens). */
export const matchesSubject = (pattern: string, subject: string): boolean => {
  const wanted = pattern.split(".")
  const tokens = subject.split(".")
  for (const [index, want] of wanted.entries()) {
    if (want === ">") return tokens.length > index
    const token = tokens[index]
    if (token === undefined || (want !== "*" && want !== token)) return false
  }
  return wanted.length === tokens.length
}
