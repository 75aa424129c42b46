import { assert, describe, it } from "@effect/vitest"
import { changesBetween } from "./trace-changes.ts"
import { rerun, type TraceLanguage } from "./trace-suite.ts"
import { unifiedDiff } from "./unified-diff.ts"

/** A world that adds numbers. */
const adder = (): TraceLanguage => {
  let sum = 0
  return {
    verbs: {
      add: (command) => {
        const times = command.numberSetting("times") ?? 1
        sum += command.number("a number") * times
        return [`added ${times === 1 ? "once" : `${times} times`}`]
      },
      rest: () => []
    },
    view: () => new Map(sum === 0 ? [] : [["sum", `${sum}`]])
  }
}

const trace = `# Numbers add up.

add 2
  added once
  sum: 2
# twice at once
add 3 times=2
  added 2 times
  sum: 2 => 8
rest
  nothing
`

describe("traces", () => {
  it("what a trace says is what comes of it, comments and empty lines in their places", () => {
    assert.strictEqual(rerun(trace, adder()), trace)
  })

  it("other outputs, missing ones and invented ones are put right", () => {
    const wrong = trace.replace("  sum: 2 => 8\n", "").replace("  sum: 2", "  sum: 3\n  sum: 4")
    assert.strictEqual(rerun(wrong, adder()), trace)
  })

  it.each([
    { text: "add 1\n", says: "begins with a comment" },
    { text: "# Nothing.\n", says: "has commands" },
    { text: "# Astray.\n  sum: 1\n", says: "line 2 is output of no command" },
    {
      text: "# Unknown.\nsubtract 1\n",
      says: "line 2, subtract 1: Error: there is no subtract, only add, rest"
    },
    { text: "# Missing.\nadd\n", says: "add needs a number" },
    { text: "# Not a number.\nadd two\n", says: "a number is no number: two" },
    { text: "# Misspelt.\nadd 1 time=2\n", says: "add does not understand time" },
    { text: "# Too much.\nadd 1 2\n", says: "add does not understand 2" },
    { text: "# Twice.\nadd 1 times=2 times=3\n", says: "times is set twice" },
    { text: `# Long.\n${"rest\n".repeat(80)}`, says: "is not read" }
  ])("a trace that is no good says why: $says", ({ says, text }) => {
    assert.throws(() => rerun(text, adder()), says)
  })

  it("a difference is shown as a unified diff with the lines around it", () => {
    const expected = "a\nb\nc\nd\ne\nf\ng\n"
    const actual = "a\nb\nc\nd\nx\nf\ng\nh\n"
    const lines = unifiedDiff("it", { expected, actual }).split("\n")
    const changes = ["@@ -2 +2 @@", " b", " c", " d", "-e", "+x", " f", " g", "+h", " "]
    assert.deepStrictEqual(lines, ["--- it as expected", "+++ it as it ran", ...changes])
    assert.strictEqual(unifiedDiff("it", { expected, actual: expected }), "")
  })

  it("changes of a view are what is new, different and gone", () => {
    const before = new Map([
      ["a", "1"],
      ["b", "2"],
      ["c", "3"]
    ])
    const after = new Map([
      ["a", "1"],
      ["b", "4"],
      ["d", "5"]
    ])
    assert.deepStrictEqual(changesBetween(before, after), ["b: 2 => 4", "d: 5", "c: gone"])
  })
})
