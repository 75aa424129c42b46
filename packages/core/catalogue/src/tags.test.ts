import { Result, Schema } from "effect"
import fc from "fast-check"
import { createHash } from "node:crypto"
import { describe, expect, it } from "vitest"
import {
  canonicalBytesMax,
  canonicalQuery,
  canonicalText,
  drawnNames,
  makeTagDrawer,
  makeTagFilter,
  parseTagRule,
  type TaggedRecord,
  type TagRule,
  TagRules
} from "./index.ts"
import { compareBytes } from "./ordered-bytes.ts"

const text = (value: string) => new TextEncoder().encode(value)
const platform = {
  sha256: (bytes: Uint8Array) => new Uint8Array(createHash("sha256").update(bytes).digest()),
  encodeText: text,
  decodeText: (bytes: Uint8Array) => new TextDecoder().decode(bytes)
}
const rule = (line: string): TagRule => Result.getOrThrow(parseTagRule(line))
const record = (fields: Partial<TaggedRecord>): TaggedRecord => ({
  subject: text("eu.berlin.17"),
  headers: [],
  data: text(""),
  ...fields
})

describe("a tag rule as it is typed", () => {
  const right: ReadonlyArray<readonly [string, unknown]> = [
    [
      "region=subject:1",
      { name: "region", source: { _tag: "Subject", token: 1 }, order: { _tag: "Text" } }
    ],
    [
      "kind=header:Event-Kind",
      { name: "kind", source: { _tag: "Header", name: "Event-Kind" }, order: { _tag: "Text" } }
    ],
    [
      "mag=json:properties.mag,number:0.5",
      {
        name: "mag",
        source: { _tag: "Json", path: ["properties", "mag"] },
        order: { _tag: "Number", width: 0.5 }
      }
    ],
    [
      "x=json:a[0].b,number",
      {
        name: "x",
        source: { _tag: "Json", path: ["a", "0", "b"] },
        order: { _tag: "Number" }
      }
    ]
  ]
  it.each(right)("%s", (line, expected) => {
    expect(rule(line)).toEqual(expected)
  })

  it.each([
    "region",
    "=subject:1",
    "subject=subject:1",
    "1st=subject:1",
    "region=subject:x",
    "region=subject:999",
    "region=body:1",
    "region=header:",
    "mag=json:a,number:0",
    "mag=json:a,number:x",
    "mag=json:a,size"
  ])("%s is refused with what would be right", (line) => {
    const parsed = parseTagRule(line)
    expect(Result.isFailure(parsed) && parsed.failure.message).toContain("Right would be")
  })

  it("names stand once", () => {
    const decoded = Schema.decodeUnknownResult(TagRules)([rule("a=subject:1"), rule("a=subject:2")])
    expect(Result.isFailure(decoded) && String(decoded.failure)).toContain(`"a" stands twice`)
  })
})

describe("drawing", () => {
  const drawn = (line: string, fields: Partial<TaggedRecord>) =>
    makeTagDrawer(
      [rule(line)],
      platform
    )(record(fields))
      .filter(({ name }) => name !== "subject")
      .map(({ value }) => platform.decodeText(value))
  const json = (value: unknown) => ({ data: text(JSON.stringify(value)) })
  const table: ReadonlyArray<readonly [string, Partial<TaggedRecord>, ReadonlyArray<string>]> = [
    ["t=subject:0", {}, ["eu"]],
    ["t=subject:2", {}, ["17"]],
    ["t=subject:3", {}, []],
    ["t=subject:1", { subject: text("a..b") }, [""]],
    ["t=header:k", { headers: [[text("K"), text("no")]] }, []],
    [
      "t=header:k",
      {
        headers: [
          [text("k"), text("1")],
          [text("k"), text("2")]
        ]
      },
      ["1", "2"]
    ],
    ["t=json:a.b", json({ a: { b: "x" } }), ["x"]],
    ["t=json:a.b", json({ a: { b: 1.5 } }), ["1.5"]],
    ["t=json:a.b", json({ a: { b: false } }), ["false"]],
    ["t=json:a.b", json({ a: { b: null } }), []],
    ["t=json:a.b", json({ a: 1 }), []],
    ["t=json:a.b", json({ a: { b: { c: 1 } } }), []],
    ["t=json:a", json({ a: ["x", {}, "y"] }), ["x", "y"]],
    ["t=json:[1].a", json([0, { a: "z" }]), []],
    ["t=json:1.a", json([0, { a: "z" }]), ["z"]],
    ["t=json:constructor.name", json({}), []],
    ["t=json:__proto__", json({}), []],
    ["t=json:a", { data: text("{not json") }, []],
    ["t=json:a", { data: Uint8Array.of(0x7b, 0xff, 0xfe) }, []],
    ["t=json:a", { data: text("") }, []]
  ]
  it.each(table)("%s of %o", (line, fields, expected) => {
    expect(drawn(line, fields)).toEqual(expected)
  })

  it("never fails and never draws more than 128 bytes, whatever a record holds", () => {
    const lines = ["a=subject:1", "b=header:h,number", "c=json:x,number:1", "d=json:x"]
    const rules = lines.map(rule)
    const draw = makeTagDrawer(rules, platform)
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 400 }),
      fc.json().map(text),
      fc.json().map((value) => text(`{"x":${value}}`))
    )
    const headers = fc.array(fc.tuple(fc.constant(text("h")), bytes), { maxLength: 3 })
    fc.assert(
      fc.property(bytes, headers, bytes, (subject, headers, data) => {
        for (const { name, value } of draw({ subject, headers, data })) {
          expect(drawnNames(rules)).toContain(name)
          expect(value.length).toBeLessThanOrEqual(canonicalBytesMax)
        }
      })
    )
  })
})

describe("values", () => {
  it("long ones stay distinct, and never equal a short one", () => {
    const long = (end: string) => canonicalText(text("x".repeat(200) + end), platform.sha256)
    expect(compareBytes(long("a"), long("b"))).not.toBe(0)
    expect(compareBytes(long("a"), long("a"))).toBe(0)
    expect(long("a").length).toBe(128)
    expect(canonicalText(new Uint8Array(127), platform.sha256).length).toBe(127)
    expect(canonicalText(new Uint8Array(128), platform.sha256)).not.toEqual(new Uint8Array(128))
  })

  it("a query finds exactly the records that have the value", () => {
    const rules = [rule("mag=json:mag,number:1"), rule("place=json:place")]
    const places = fc.constantFrom("a", "b", "c".repeat(300), "c".repeat(301), "")
    const quake = fc.record({ mag: fc.double({ min: -2, max: 9, noNaN: true }), place: places })
    const [magRule, placeRule] = rules
    if (magRule === undefined || placeRule === undefined) throw new Error("two rules")
    fc.assert(
      fc.property(quake, quake, ({ mag, place }, asked) => {
        const subject = record({ data: text(JSON.stringify({ mag, place })) })
        const ask = ({ name, order }: TagRule, value: string) =>
          Result.getOrThrow(canonicalQuery({ name, value, order }, platform))
        const matches = (name: string, value: Uint8Array) =>
          makeTagFilter({ name, value }, rules, platform)(subject)
        expect(matches("mag", ask(magRule, String(asked.mag)))).toBe(
          Math.floor(mag) === Math.floor(asked.mag)
        )
        expect(matches("place", ask(placeRule, asked.place))).toBe(place === asked.place)
      })
    )
  })

  it("a number is asked for by a number", () => {
    const { name, order } = rule("mag=json:mag,number")
    const asked = canonicalQuery({ name, value: "big", order }, platform)
    expect(Result.isFailure(asked) && asked.failure.message).toContain('"big" is not one')
  })
})
