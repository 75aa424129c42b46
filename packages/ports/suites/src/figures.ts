/**
 * What benchmarks say: a line for people, and a row for whoever compares.
 *
 *     figure ──▶ standard output, aligned
 *        └─────▶ one JSON line in the file that HOLDFAST_BENCH_ROWS names, where it names one
 */
import { appendFileSync } from "node:fs"
import { env, stdout } from "node:process"

/** What was reached, and what should be. */
export interface Figure {
  readonly what: string
  readonly value: number
  readonly unit: string
  /** What should be reached; absent where nothing is asked. */
  readonly bar?: Bar
}

/** The least or the most that a figure should be. */
export type Bar = { readonly atLeast: number } | { readonly atMost: number }

/** A figure as it is written for programs. */
export interface FigureRow {
  readonly part: string
  readonly what: string
  readonly value: number
  readonly unit: string
  readonly bar: string | null
  readonly met: boolean | null
}

const isMet = (value: number, bar: Bar): boolean =>
  "atLeast" in bar ? value >= bar.atLeast : value <= bar.atMost

const describeBar = (bar: Bar): string =>
  "atLeast" in bar ? `at least ${bar.atLeast}` : `at most ${bar.atMost}`

/** Three digits that count, and all digits of large numbers. */
const rounded = (value: number): number =>
  Math.abs(value) >= 100 ? Math.round(value) : Number(value.toPrecision(3))

const rowOf = (part: string, { bar, unit, value, what }: Figure): FigureRow => ({
  part,
  what,
  value: rounded(value),
  unit,
  bar: bar === undefined ? null : describeBar(bar),
  met: bar === undefined ? null : isMet(value, bar)
})

const lineOf = ({ bar, met, unit, value, what }: FigureRow): string => {
  const figure = `${what.padEnd(58)} ${value.toLocaleString("en-US").padStart(12)} ${unit}`
  return bar === null ? figure : `${figure} (${bar}: ${met === true ? "met" : "not met"})`
}

/** Says the figures of one part, one after the other. */
export const figuresOf =
  (part: string) =>
  (figure: Figure): void => {
    const row = rowOf(part, figure)
    stdout.write(`${lineOf(row)}\n`)
    const rows = env["HOLDFAST_BENCH_ROWS"]
    if (rows !== undefined) appendFileSync(rows, `${JSON.stringify(row)}\n`)
  }
