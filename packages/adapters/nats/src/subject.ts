/** Which subjects can be sent to and listened to. */

/** The longest subject in bytes; the server's limit is on the whole control line. */
export const longestSubject = 1024

/** Why nothing can be published to a subject, or undefined when it can. */
export const publishFault = (subject: string): string | undefined => {
  const fault = subjectFault(subject)
  if (fault !== undefined) return fault
  return subject.split(".").some((token) => token === "*" || token === ">")
    ? `the subject "${subject}" has a wildcard; a message needs a literal subject`
    : undefined
}

/** Why a subject cannot be listened to, or undefined when it can. */
export const listenFault = (subject: string): string | undefined => {
  const fault = subjectFault(subject)
  if (fault !== undefined) return fault
  return subject.split(".").slice(0, -1).includes(">")
    ? `the subject "${subject}" has ">" before its end; it can only be the last token`
    : undefined
}

/**
 * Whether a subject matches a filter: `*` stands for one token, `>` at the end for all that are
 * left, at least one.
 */
export const matchesSubject = (filter: string, subject: string): boolean => {
  const wanted = filter.split(".")
  const tokens = subject.split(".")
  for (const [at, token] of wanted.entries()) {
    if (token === ">" && at === wanted.length - 1) return tokens.length > at
    const given = tokens[at]
    if (given === undefined || (token !== "*" && token !== given)) return false
  }
  return tokens.length === wanted.length
}

const subjectFault = (subject: string): string | undefined => {
  if (subject.length === 0) return "the subject is empty"
  if (new TextEncoder().encode(subject).length > longestSubject) {
    return `the subject is longer than ${longestSubject} bytes`
  }
  if (hasSeparator(subject)) {
    return `the subject ${JSON.stringify(subject)} may not have spaces or control characters`
  }
  return subject.split(".").includes("") ? `the subject "${subject}" has an empty token` : undefined
}

/** The server splits its lines at these. */
const hasSeparator = (subject: string): boolean => {
  for (let at = 0; at < subject.length; at += 1) {
    const code = subject.charCodeAt(at)
    if (code <= 32 || code === 127) return true
  }
  return false
}
