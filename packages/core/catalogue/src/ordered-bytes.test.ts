import fc from "fast-check"
import { describe, expect, it } from "vitest"
import {
  compareBytes,
  joinBytes,
  orderedNumber,
  orderedPosition,
  orderedText,
  orderedTime,
  positionMaximum,
  positionOfBytes,
  timeMaximum,
  timeMinimum,
  timeOfBytes
} from "./ordered-bytes.ts"

const sign = (value: bigint | number): number => (value < 0 ? -1 : value > 0 ? 1 : 0)
const order = <A>(left: A, right: A): number => (left < right ? -1 : left > right ? 1 : 0)
const bytes = fc.uint8Array({ maxLength: 6, max: 3 })
const number = fc.oneof(
  fc.double({ noNaN: true }),
  fc.integer(),
  fc.constantFrom(0, -0, Infinity, -Infinity, Number.MIN_VALUE)
)
const position = fc.oneof(fc.bigInt(0n, 300n), fc.bigInt(0n, positionMaximum))

describe("byte order is the order of", () => {
  it("times", () => {
    const time = fc.bigInt(timeMinimum, timeMaximum)
    fc.assert(
      fc.property(time, time, (left, right) => {
        const compared = compareBytes(orderedTime(left), orderedTime(right))
        expect(sign(compared)).toBe(order(left, right))
        expect(timeOfBytes(orderedTime(left))).toBe(left)
      })
    )
  })

  it("positions", () => {
    fc.assert(
      fc.property(position, position, (left, right) => {
        const compared = compareBytes(orderedPosition(left), orderedPosition(right))
        expect(sign(compared)).toBe(order(left, right))
        expect(positionOfBytes(orderedPosition(left))).toBe(left)
      })
    )
  })

  it("numbers, zero being one", () => {
    fc.assert(
      fc.property(number, number, (left, right) => {
        const compared = compareBytes(orderedNumber(left), orderedNumber(right))
        expect(sign(compared)).toBe(order(left, right))
      })
    )
  })

  it("texts, whatever follows them", () => {
    fc.assert(
      fc.property(bytes, bytes, bytes, bytes, (left, leftMore, right, rightMore) => {
        const compared = compareBytes(
          joinBytes([orderedText(left), leftMore]),
          joinBytes([orderedText(right), rightMore])
        )
        const expected = compareBytes(left, right) || compareBytes(leftMore, rightMore)
        expect(sign(compared)).toBe(sign(expected))
      })
    )
  })
})
