/**
 * Traces as tests: each file of a folder is a scenario, replayed command by command and compared
 * with what it says came of each.
 *
 *     traces/lost-copy.trace ──parse──▶ commands ──a core's little language──▶ outputs
 *                │                                                                │
 *                └──────────────── equal, or a unified diff ◀──────render─────────┘
 *
 * 1. A file is one test of its name; its first line says in a comment what it shows.
 * 2. With `HOLDFAST_WRITE_TRACES=1` nothing is compared: the outputs are written anew, to be
 *    reviewed by the diff of the version control. A command that cannot be carried out fails then
 *    too, and its file is left as it was.
 * 3. Below a command stands what it answered and what it changed, and nothing else.
 * 4. A trace is short enough to be read, and its language understands each word of it.
 */
import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import { env } from "node:process"
import { assert, describe, it } from "@effect/vitest"
import { changesBetween, type TraceView } from "./trace-changes.ts"
import { TraceCommand } from "./trace-command.ts"
import { parseTrace, renderTrace, replayTrace } from "./trace-file.ts"
import { unifiedDiff } from "./unified-diff.ts"

/** The little language of a core, over one world of its own. */
export interface TraceLanguage {
  /** What each verb does and answers, a line each; it throws at what it does not understand. */
  readonly verbs: Readonly<Record<string, (command: TraceCommand) => ReadonlyArray<string>>>
  /** The world as it is; what a command changed in it is put below its answer. */
  readonly view: () => TraceView
}

/** What a core brings to have its traces replayed. */
export interface TraceSuite {
  /** The name of the core. */
  readonly name: string
  /** The folder of the `.trace` files, ending with a slash. */
  readonly folder: URL
  /** A fresh world for one trace. */
  readonly open: () => TraceLanguage
}

const linesMax = 60

/** Replays every trace of a folder. */
export const describeTraces = (suite: TraceSuite): void => {
  const names = readdirSync(suite.folder)
    .filter((name) => name.endsWith(".trace"))
    .sort()
  describe(`traces of ${suite.name}`, () => {
    it("there are some", () => {
      assert.isAbove(names.length, 0)
    })
    for (const name of names) {
      it(name.slice(0, -".trace".length).replaceAll("-", " "), () => {
        checkTrace(suite, name)
      })
    }
  })
}

const checkTrace = (suite: TraceSuite, name: string): void => {
  const path = new URL(name, suite.folder)
  const expected = readFileSync(path, "utf8")
  const actual = rerun(expected, suite.open())
  if (env["HOLDFAST_WRITE_TRACES"] === "1") {
    writeFileSync(path, actual)
    return
  }
  const difference = unifiedDiff(name, { expected, actual })
  if (difference !== "") assert.fail(`${name} ran otherwise.\n${difference}\n${adviceToWrite}`)
}

const adviceToWrite =
  "If that is right, write it anew with HOLDFAST_WRITE_TRACES=1 and review the diff."

/** The text of a trace with the outputs that its commands have now. */
export const rerun = (text: string, language: TraceLanguage): string => {
  const lines = parseTrace(text)
  const [first] = lines
  const isDescribed = first?._tag === "Prose" && /^# \S/.test(first.text)
  if (!isDescribed) throw new Error("a trace begins with a comment that says what it shows")
  if (!lines.some((line) => line._tag === "Command")) throw new Error("a trace has commands")
  let before = language.view()
  const rendered = renderTrace(
    replayTrace(lines, (line) => {
      const answer = carryOut(language, new TraceCommand(line))
      const after = language.view()
      const changes = changesBetween(before, after)
      before = after
      return [...answer, ...changes]
    })
  )
  const count = rendered.split("\n").length - 1
  if (count > linesMax)
    throw new Error(`a trace of ${count} lines is not read; ${linesMax} at most`)
  return rendered
}

const carryOut = ({ verbs }: TraceLanguage, command: TraceCommand): ReadonlyArray<string> => {
  const { verb } = command
  const act = Object.hasOwn(verbs, verb) ? verbs[verb] : undefined
  if (act === undefined) {
    throw new Error(`there is no ${verb}, only ${Object.keys(verbs).join(", ")}`)
  }
  const answer = act(command)
  command.finish()
  return answer
}
