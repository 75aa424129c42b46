import { assert, describe, it } from "@effect/vitest"
import fc from "fast-check"
import {
  encodeHeaderBlock,
  type HeaderBytes,
  headerFault,
  parseHeaderBlock
} from "./header-block.ts"

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
const plain = (headers: ReadonlyArray<HeaderBytes>) =>
  headers.map(([name, value]) => [Array.from(name), Array.from(value)])
const byte = (accept: (value: number) => boolean) => fc.integer({ min: 0, max: 255 }).filter(accept)
const name = fc
  .uint8Array({ minLength: 1, maxLength: 12 })
  .map((all) => all.map((value) => 59 + (value % 68)))
const value = fc
  .array(
    byte((each) => each !== 10 && each !== 13),
    { maxLength: 20 }
  )
  .map((all) => Uint8Array.from(all))

describe("a header block", () => {
  it("gives back every name and value byte for byte, repeats and order kept", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(name, value), { maxLength: 8 }), (headers) => {
        for (const header of headers) assert.isUndefined(headerFault(header))
        assert.deepStrictEqual(plain(parseHeaderBlock(encodeHeaderBlock(headers))), plain(headers))
      })
    )
  })

  it("of other clients is read as it stands", () => {
    const table: ReadonlyArray<readonly [string, ReadonlyArray<readonly [string, string]>]> = [
      ["NATS/1.0\r\n\r\n", []],
      ["NATS/1.0 503\r\n\r\n", []],
      [
        "NATS/1.0 100 Idle Heartbeat\r\nNats-Last-Consumer: 7\r\n\r\n",
        [["Nats-Last-Consumer", "7"]]
      ],
      [
        "NATS/1.0\r\na:1\r\na:  2\r\nb:\r\n\r\n",
        [
          ["a", "1"],
          ["a", " 2"],
          ["b", ""]
        ]
      ],
      ["NATS/1.0\r\nc: x:y\rz\r\n", [["c", "x:y\rz"]]],
      ["NATS/1.0\r\nno colon\r\nd: 1", [["d", "1"]]],
      ["", []]
    ]
    for (const [block, expected] of table) {
      const read = parseHeaderBlock(bytes(block))
      assert.deepStrictEqual(
        plain(read),
        plain(expected.map(([name, value]) => [bytes(name), bytes(value)]))
      )
    }
  })

  it("is refused where a header would not arrive as it was sent", () => {
    const faulty = [
      ["", "x"],
      ["a b", "x"],
      ["a:b", "x"],
      ["é", "x"],
      ["a", "x\r\ny"],
      ["a", "\n"]
    ]
    for (const [name = "", value = ""] of faulty) {
      assert.isString(headerFault([bytes(name), bytes(value)]), JSON.stringify([name, value]))
    }
  })
})
