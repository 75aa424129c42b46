/** What happened in a run: one line an event, the newest kept, all of them hashed. */
import { createHash } from "node:crypto"

/** The lines of a run. */
export interface Trace {
  readonly add: (line: string) => void
  /** Lines since the beginning. */
  readonly count: () => number
  /** The newest lines, oldest first. */
  readonly newest: () => ReadonlyArray<string>
  /** SHA-256 over all lines so far; two runs of one seed have the same. */
  readonly digest: () => string
}

/** Makes an empty trace that keeps `linesMax` lines and stamps each with the time. */
export const makeTrace = (options: {
  readonly linesMax: number
  readonly nowMicros: () => number
}): Trace => {
  const hash = createHash("sha256")
  let lines: Array<string> = []
  let count = 0
  return {
    add: (text) => {
      const millis = (options.nowMicros() / 1_000).toFixed(3).padStart(12)
      const line = `${millis}  ${text}`
      hash.update(line)
      hash.update("\n")
      count += 1
      lines.push(line)
      if (lines.length >= 2 * options.linesMax) lines = lines.slice(-options.linesMax)
    },
    count: () => count,
    newest: () => lines.slice(-options.linesMax),
    digest: () => hash.copy().digest("hex")
  }
}
