import { assert, it } from "@effect/vitest"
import { Option } from "effect"
import { decodeParts, encodeParts } from "./parts.ts"

it("parts come back as they went in", () => {
  const parts = [new Uint8Array([1, 2, 3]), new Uint8Array(), new Uint8Array(300).fill(7)]
  assert.deepStrictEqual(Option.getOrThrow(decodeParts(encodeParts(parts))), parts)
  assert.deepStrictEqual(Option.getOrThrow(decodeParts(new Uint8Array())), [])
})

it("a torn attachment is refused", () => {
  const body = encodeParts([new Uint8Array([1, 2, 3]), new Uint8Array([4])])
  for (const length of [1, 3, 5, 6, 8, 11]) {
    assert.isTrue(Option.isNone(decodeParts(body.subarray(0, length))), `${length} bytes`)
  }
})
