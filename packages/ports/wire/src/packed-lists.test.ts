import { Option } from "effect"
import fc from "fast-check"
import { assert, describe, it } from "@effect/vitest"
import { decodeCopies, encodeCopies } from "./copy-list.ts"
import { decodeFrame, encodeFrame } from "./frame.ts"
import { decodeRecords, encodeRecords, packedBytes } from "./record-list.ts"

const uint32 = fc.integer({ min: 0, max: 2 ** 32 - 1 })
const identifier = fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER })
const bytes = fc.uint8Array({ maxLength: 40 })
const record = fc.record({
  timestamp: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
  subject: bytes,
  headers: fc.array(fc.tuple(bytes, bytes), { maxLength: 4 }),
  data: bytes
})

describe("packed lists", () => {
  it("copies come back as they were", () => {
    const copy = fc.record({
      fileId: identifier,
      chunkId: uint32,
      version: identifier,
      length: uint32,
      checksum: uint32
    })
    fc.assert(
      fc.property(fc.array(copy), (copies) => {
        assert.deepStrictEqual(decodeCopies(encodeCopies(copies)), Option.some(copies))
      })
    )
  })

  it("a copy list of a wrong length or with an impossible id is refused", () => {
    assert.isTrue(Option.isNone(decodeCopies(new Uint8Array(27))))
    assert.isTrue(Option.isNone(decodeCopies(new Uint8Array(28))))
    assert.isTrue(Option.isNone(decodeCopies(new Uint8Array(28 * 10_001).fill(1))))
  })

  it("records come back byte for byte, in exactly the bytes foretold", () => {
    fc.assert(
      fc.property(fc.array(record, { maxLength: 20 }), (records) => {
        const packed = encodeRecords(records)
        const foretold = records.reduce((sum, one) => sum + packedBytes(one), 4)
        assert.strictEqual(packed.length, foretold)
        assert.deepStrictEqual(decodeRecords(packed), Option.some(records))
      })
    )
  })

  it("a record list cut anywhere, or with bytes left over, is refused", () => {
    fc.assert(
      fc.property(fc.array(record, { minLength: 1, maxLength: 5 }), fc.nat(), (records, seed) => {
        const packed = encodeRecords(records)
        const cut = seed % packed.length
        assert.isTrue(Option.isNone(decodeRecords(packed.subarray(0, cut))))
        assert.isTrue(Option.isNone(decodeRecords(new Uint8Array([...packed, 0]))))
      })
    )
  })

  it("metadata-W24: any bytes decode to a list or to nothing, never to an exception", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (noise) => {
        decodeRecords(noise)
        decodeCopies(noise)
        decodeFrame(noise)
      })
    )
  })

  it("a frame keeps its JSON and its attachment; bare JSON is a frame", () => {
    fc.assert(
      fc.property(fc.json(), bytes, (json, attachment) => {
        const frame = Option.getOrThrow(decodeFrame(encodeFrame({ json, attachment })))
        assert.strictEqual(frame.json, json)
        assert.deepStrictEqual([...frame.attachment], [...attachment])
      })
    )
    assert.isTrue(Option.isNone(decodeFrame(new Uint8Array([0, 0, 0, 0, 9, 123]))))
    assert.isTrue(Option.isNone(decodeFrame(new Uint8Array([0xff, 0xfe]))))
  })
})
