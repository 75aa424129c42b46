/**
 * The difference of two texts as a unified diff, by their longest common subsequence of lines.
 * O(lines x lines), which is nothing for what a person reads.
 */

interface Edit {
  readonly sign: " " | "-" | "+"
  readonly text: string
}

const contextLines = 3

/** The lengths of the longest common subsequences of all pairs of ends. */
const commonLengths = (
  left: ReadonlyArray<string>,
  right: ReadonlyArray<string>
): ReadonlyArray<Uint32Array> => {
  const lengths = Array.from({ length: left.length + 1 }, () => new Uint32Array(right.length + 1))
  for (let row = left.length - 1; row >= 0; row -= 1) {
    for (let column = right.length - 1; column >= 0; column -= 1) {
      lengths[row]![column] =
        left[row] === right[column]
          ? lengths[row + 1]![column + 1]! + 1
          : Math.max(lengths[row + 1]![column]!, lengths[row]![column + 1]!)
    }
  }
  return lengths
}

const editsOf = (
  left: ReadonlyArray<string>,
  right: ReadonlyArray<string>
): ReadonlyArray<Edit> => {
  const lengths = commonLengths(left, right)
  const edits: Array<Edit> = []
  let row = 0
  let column = 0
  while (row < left.length || column < right.length) {
    if (row < left.length && column < right.length && left[row] === right[column]) {
      edits.push({ sign: " ", text: left[row]! })
      row += 1
      column += 1
    } else if (
      column === right.length ||
      (row < left.length && lengths[row + 1]![column]! >= lengths[row]![column + 1]!)
    ) {
      edits.push({ sign: "-", text: left[row]! })
      row += 1
    } else {
      edits.push({ sign: "+", text: right[column]! })
      column += 1
    }
  }
  return edits
}

/** Whether each edit is a change or within the context of one. */
const shownOf = (edits: ReadonlyArray<Edit>): ReadonlyArray<boolean> => {
  const shown = edits.map(() => false)
  for (const [index, { sign }] of edits.entries()) {
    if (sign === " ") continue
    const last = Math.min(edits.length - 1, index + contextLines)
    for (let near = Math.max(0, index - contextLines); near <= last; near += 1) shown[near] = true
  }
  return shown
}

/** The unified diff from one text to another; empty when they are equal. */
export const unifiedDiff = (
  name: string,
  texts: { readonly expected: string; readonly actual: string }
): string => {
  if (texts.expected === texts.actual) return ""
  const edits = editsOf(texts.expected.split("\n"), texts.actual.split("\n"))
  const shown = shownOf(edits)
  const lines = [`--- ${name} as expected`, `+++ ${name} as it ran`]
  let leftLine = 1
  let rightLine = 1
  for (let index = 0; index < edits.length; index += 1) {
    const { sign, text } = edits[index]!
    if (shown[index] === true) {
      if (index === 0 || shown[index - 1] === false) lines.push(`@@ -${leftLine} +${rightLine} @@`)
      lines.push(`${sign}${text}`)
    }
    if (sign !== "+") leftLine += 1
    if (sign !== "-") rightLine += 1
  }
  return lines.join("\n")
}
