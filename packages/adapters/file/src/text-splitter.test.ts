import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { makeJsonArraySplitter } from "./json-array-splitter.ts"
import { makeLineSplitter } from "./line-splitter.ts"
import type { TextFault, TextPiece, TextSplitter } from "./text-splitter.ts"

const limits = { pieceBytesMax: 1_000, after: 0n }

const split = (
  splitter: TextSplitter,
  text: string | Uint8Array,
  chunkBytes = 1_000_000
): { readonly pieces: ReadonlyArray<string>; readonly fault: TextFault | undefined } => {
  const bytes = typeof text === "string" ? Buffer.from(text) : text
  const pieces: Array<TextPiece> = []
  let fault: TextFault | undefined
  for (let from = 0; from < bytes.length && fault === undefined; from += chunkBytes) {
    fault = splitter.push(bytes.subarray(from, from + chunkBytes), pieces)
  }
  fault ??= splitter.end(pieces)
  const shown = pieces.map(
    ({ bytes: piece, position }) => `${position} ${Buffer.from(piece).toString()}`
  )
  return { pieces: shown, fault }
}

const lines = () => makeLineSplitter({ ...limits, isJson: false })
const ndjson = () => makeLineSplitter({ ...limits, isJson: true })
const array = (path: string) =>
  makeJsonArraySplitter({ ...limits, path: path === "" ? [] : path.split(".") })

describe("lines", () => {
  const cases: ReadonlyArray<readonly [text: string, pieces: ReadonlyArray<string>]> = [
    ["", []],
    ["a", ["1 a"]],
    ["a\n", ["1 a"]],
    ["a\r\nb", ["1 a", "2 b"]],
    ["a\n\nb\n\n", ["1 a", "2 ", "3 b", "4 "]]
  ]
  for (const [text, pieces] of cases) {
    it(`cuts ${JSON.stringify(text)}`, () => {
      expect(split(lines(), text)).toEqual({ pieces, fault: undefined })
    })
  }

  it("keep every byte, however they arrive in chunks", () => {
    const line = fc.uint8Array({ maxLength: 20 }).filter((bytes) => !bytes.includes(0x0a))
    fc.assert(
      fc.property(fc.array(line), fc.integer({ min: 1, max: 9 }), (all, chunkBytes) => {
        const text = Buffer.concat(all.flatMap((bytes) => [bytes, Buffer.of(0x0a)]))
        const pieces: Array<TextPiece> = []
        const splitter = lines()
        for (let from = 0; from < text.length; from += chunkBytes) {
          splitter.push(text.subarray(from, from + chunkBytes), pieces)
        }
        const expected = all.map((bytes) => (bytes.at(-1) === 0x0d ? bytes.slice(0, -1) : bytes))
        expect(pieces.map(({ bytes }) => [...bytes])).toEqual(expected.map((bytes) => [...bytes]))
      })
    )
  })
})

describe("NDJSON", () => {
  it("passes over empty lines and keeps the numbers of the others", () => {
    const { fault, pieces } = split(ndjson(), '\ufeff{"a":1}\r\n\n  \n[2]\n"x"')
    expect(fault).toBeUndefined()
    expect(pieces).toEqual(['1 {"a":1}', "4 [2]", '5 "x"'])
  })

  it("names the line that is broken, after the records before it", () => {
    const { fault, pieces } = split(ndjson(), '{"a":1}\n{"a":2}\n{"a":\n{"a":4}\n')
    expect(pieces).toEqual(['1 {"a":1}', '2 {"a":2}'])
    expect(fault).toMatchObject({ code: "malformed", line: 3 })
    expect(fault?.message).toContain("exactly one JSON value")
  })

  it("refuses two values in a line, text that is not UTF-8 and a line over the limit", () => {
    expect(split(ndjson(), "1 2\n").fault?.line).toBe(1)
    expect(split(ndjson(), Uint8Array.of(0x22, 0xff, 0x22)).fault?.message).toContain("UTF-8")
    expect(split(ndjson(), `1\n"${"x".repeat(1000)}"`, 100).fault).toMatchObject({
      code: "too-large",
      line: 2
    })
  })
})

describe("JSON array", () => {
  const cases: ReadonlyArray<readonly [path: string, text: string, pieces: ReadonlyArray<string>]> =
    [
      ["", "[]", []],
      [
        "",
        ' [ 1 , [2,[3]], {"a":[4,5]} ,"6,]\\"" ]\n',
        ["1 1", "2 [2,[3]]", '3 {"a":[4,5]}', '4 "6,]\\""']
      ],
      ["", "\ufeff[true]", ["1 true"]],
      ["features", '{"features":[{"id":1},{"id":2}]}', ['1 {"id":1}', '2 {"id":2}']],
      [
        "features",
        '{"x":{"features":[9]},"y":"],[","features":[1],"z":[7,{"features":[8]}]}',
        ["1 1"]
      ],
      ["a.b", '{"b":[9],"a":{"c":1,"b":[1,2]},"d":{}}', ["1 1", "2 2"]],
      ['a"é', '{"a\\"\\u00e9":[1]}', ["1 1"]]
    ]
  for (const [path, text, pieces] of cases) {
    it(`cuts ${JSON.stringify(text)} at "${path}"`, () => {
      for (const chunkBytes of [1_000, 7, 1]) {
        expect(split(array(path), text, chunkBytes)).toEqual({ pieces, fault: undefined })
      }
    })
  }

  const broken: ReadonlyArray<
    readonly [path: string, text: string, line: number, message: string]
  > = [
    ["", "", 1, "ends before"],
    ["", "[1,\n2", 2, "ends inside"],
    ["", '{"a":1}', 1, "the document must be an array"],
    ["a", "[1]", 1, "must be an object"],
    ["a", '{\n"b":1\n}', 3, 'has no "a"'],
    ["a", '{"a":{}}', 1, '"a" must be an array'],
    ["", "[1,\n\nnul\n,2]", 3, "element 2"],
    ["", "[1,]", 1, "element 2 is missing"],
    ["", "[,1]", 1, "element 1 is missing"],
    ["", "[1 2]", 1, "element 1"],
    ["", "[1] x", 1, "follows the end"],
    ["a", '{"a":[1]', 1, "ends inside"],
    ["a", "{a:[1]}", 1, "a name in quotes"],
    ["a", '{"a" [1]}', 1, "a colon"],
    ["", `["${"x".repeat(1001)}"]`, 1, "over 1000 bytes"]
  ]
  for (const [path, text, line, message] of broken) {
    it(`refuses ${JSON.stringify(text).slice(0, 30)} at "${path}" in line ${line}`, () => {
      for (const chunkBytes of [1_000_000, 7, 1]) {
        const { fault } = split(array(path), text, chunkBytes)
        expect(fault?.message).toContain(message)
        expect(fault?.line).toBe(line)
      }
    })
  }

  it("gives back any array of JSON values, however it is written and arrives", () => {
    fc.assert(
      fc.property(
        fc.array(fc.jsonValue({ maxDepth: 3 })),
        fc.constantFrom(undefined, 1, "\t"),
        fc.integer({ min: 1, max: 40 }),
        fc.boolean(),
        (values, indent, chunkBytes, isNested) => {
          const document = isNested ? { before: values, items: values, behind: [values] } : values
          const path = isNested ? ["items"] : []
          const pieces: Array<TextPiece> = []
          const splitter = makeJsonArraySplitter({ pieceBytesMax: 1e6, after: 0n, path })
          const text = Buffer.from(JSON.stringify(document, undefined, indent))
          for (let from = 0; from < text.length; from += chunkBytes) {
            expect(splitter.push(text.subarray(from, from + chunkBytes), pieces)).toBeUndefined()
          }
          expect(splitter.end(pieces)).toBeUndefined()
          const found: ReadonlyArray<unknown> = pieces.map(({ bytes }) =>
            JSON.parse(Buffer.from(bytes).toString())
          )
          expect(found).toEqual(JSON.parse(JSON.stringify(values)))
        }
      )
    )
  })

  it("counts what was read before without giving it out", () => {
    const splitter = makeJsonArraySplitter({ pieceBytesMax: 100, after: 2n, path: [] })
    expect(split(splitter, "[1,2,3,4]").pieces).toEqual(["3 3", "4 4"])
    const rest = makeLineSplitter({ pieceBytesMax: 100, after: 2n, isJson: true })
    expect(split(rest, "1\n2\n3\n").pieces).toEqual(["3 3"])
  })
})
