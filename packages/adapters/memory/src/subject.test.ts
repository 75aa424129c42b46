import { assert, describe, it } from "vitest"
import { isLiteralSubject, isSubjectPattern, matchesSubject } from "./subject.ts"

describe("subjects", () => {
  const matches: ReadonlyArray<readonly [pattern: string, subject: string, expected: boolean]> = [
    ["a", "a", true],
    ["a", "b", false],
    ["a", "a.b", false],
    ["a.b", "a", false],
    ["a.*", "a.b", true],
    ["a.*", "a", false],
    ["a.*", "a.b.c", false],
    ["*.b", "a.b", true],
    ["a.>", "a.b", true],
    ["a.>", "a.b.c", true],
    ["a.>", "a", false],
    [">", "a", true],
    ["*.*.>", "a.b", false],
    ["*.*.>", "a.b.c.d", true],
    ["$SRV.PING", "$SRV.PING", true]
  ]
  for (const [pattern, subject, expected] of matches) {
    it(`${pattern} ${expected ? "takes" : "does not take"} ${subject}`, () => {
      assert.strictEqual(matchesSubject(pattern, subject), expected)
    })
  }

  it("a message has a literal subject, a listener may have wildcards", () => {
    const kindOf = (subject: string) =>
      isLiteralSubject(subject) ? "literal" : isSubjectPattern(subject) ? "pattern" : "neither"
    const kinds = ["a.b", "$A._b-9", "a.*", "a.>", ">", "", "a..b", ".a", "a b", "a.>.b", "a*"]
    assert.deepStrictEqual(kinds.map(kindOf), [
      "literal",
      "literal",
      "pattern",
      "pattern",
      "pattern",
      "neither",
      "neither",
      "neither",
      "neither",
      "neither",
      "neither"
    ])
  })
})
