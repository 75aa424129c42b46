/**
 * A trace file: what a scenario shows, its commands, and below each what came of it.
 *
 *     # A comment says what the scenario shows.
 *
 *     command word setting=1
 *       what it answered
 *       what it changed
 *
 * 1. A line that begins with two spaces is output of the command above it; comments and empty lines
 *    are kept where they stand.
 * 2. Rendering what was parsed, with the same outputs, gives the same text.
 */

/** A line of a trace: prose that is kept, or a command with what is expected of it. */
export type TraceLine =
  | { readonly _tag: "Prose"; readonly text: string }
  | {
      readonly _tag: "Command"
      readonly text: string
      readonly line: number
      readonly output: ReadonlyArray<string>
    }

/** Stands below a command that came to nothing. */
export const nothing = "nothing"

const indentation = "  "

/** Reads a trace; throws at output that belongs to no command. */
export const parseTrace = (text: string): ReadonlyArray<TraceLine> => {
  const lines: Array<TraceLine> = []
  let output: Array<string> | undefined
  for (const [index, line] of text.replace(/\n$/, "").split("\n").entries()) {
    if (line.startsWith(indentation)) {
      if (output === undefined) throw new Error(`line ${index + 1} is output of no command`)
      output.push(line.slice(indentation.length))
    } else if (line === "" || line.startsWith("#")) {
      output = undefined
      lines.push({ _tag: "Prose", text: line })
    } else {
      output = []
      lines.push({ _tag: "Command", text: line, line: index + 1, output })
    }
  }
  return lines
}

/** The text of a trace. */
export const renderTrace = (lines: ReadonlyArray<TraceLine>): string =>
  lines
    .flatMap((line) =>
      line._tag === "Prose"
        ? [line.text]
        : [line.text, ...line.output.map((each) => `${indentation}${each}`)]
    )
    .map((line) => `${line}\n`)
    .join("")

/** Runs each command in order and puts its output in the place of what was expected. */
export const replayTrace = (
  lines: ReadonlyArray<TraceLine>,
  run: (command: string) => ReadonlyArray<string>
): ReadonlyArray<TraceLine> =>
  lines.map((line) => {
    if (line._tag === "Prose") return line
    try {
      const output = run(line.text)
      return { ...line, output: output.length === 0 ? [nothing] : output }
    } catch (cause) {
      throw new Error(`line ${line.line}, ${line.text}: ${String(cause)}`, { cause })
    }
  })
