import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { matchesSubject } from "./subject.ts"

describe("a filter of subjects", () => {
  it.each([
    ["orders.eu", "orders.eu", true],
    ["orders.eu", "orders.us", false],
    ["orders.*", "orders.eu", true],
    ["orders.*", "orders", false],
    ["orders.*", "orders.eu.paid", false],
    ["*.eu", "orders.eu", true],
    ["orders.>", "orders.eu.paid", true],
    ["orders.>", "orders", false],
    ["orders.>", "order.eu", false],
    ["orders.>.paid", "orders.eu.paid", false],
    [">", "orders", true],
    ["orders", "orders.eu", false]
  ])("%s and %s: %s", (filter, subject, isMatch) => {
    expect(matchesSubject(filter, subject)).toBe(isMatch)
  })

  it("matches every subject of which it is made by putting wildcards", () => {
    const token = fc.stringMatching(/^[a-z]{1,3}$/)
    const tokens = fc.array(fc.tuple(token, fc.boolean()), { minLength: 1, maxLength: 5 })
    fc.assert(
      fc.property(tokens, fc.boolean(), (parts, isOpen) => {
        const subject = parts.map(([text]) => text).join(".")
        const filter = parts.map(([text, isWild]) => (isWild ? "*" : text)).join(".")
        expect(matchesSubject(filter, subject)).toBe(true)
        expect(matchesSubject(`${filter}.>`, isOpen ? `${subject}.x.y` : subject)).toBe(isOpen)
      })
    )
  })
})
