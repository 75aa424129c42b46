/** The list of scenarios and the tests that play them name each other. */
import { describe, expect, it } from "vitest"
import { filesMatching, readText } from "./repository.ts"

const identifier = /\b(?:metadata|peer|worker|archive)-[A-Z]+\d+\b/g
const tests = filesMatching(/\.test\.ts$/).filter(({ path }) => !path.startsWith("tools/"))
const rows = readText("docs/scenarios.md")
  .split("\n")
  .filter((line) => /^\| (?:metadata|peer|worker|archive)-/.test(line))
  .map((line) => line.split("|").map((cell) => cell.trim()))
  .map(([, id = "", source = "", sentence = "", test = ""]) => ({ id, source, sentence, test }))

describe("docs/scenarios.md", () => {
  it("lists every scenario that a test names", () => {
    const listed = new Set(rows.map(({ id }) => id))
    const named = new Set(tests.flatMap(({ text }) => text.match(identifier) ?? []))
    expect([...named].filter((id) => !listed.has(id)).sort()).toEqual([])
  })

  it("names for each scenario a test that exists and names it", () => {
    const problems = rows.flatMap(({ id, test }) => {
      const path = test.replaceAll("`", "")
      const file = tests.find((one) => one.path === path)
      if (file === undefined) return [`${id}: there is no ${path}`]
      return file.text.includes(id) ? [] : [`${id}: ${path} does not name it`]
    })
    expect(problems).toEqual([])
  })

  it("says for each where it comes from and what happens, once", () => {
    const thin = rows.filter(({ sentence, source }) => source === "" || sentence.length < 15)
    expect(thin.map(({ id }) => id)).toEqual([])
    const ids = rows.map(({ id }) => id)
    expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([])
  })
})
