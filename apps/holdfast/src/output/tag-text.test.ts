import * as fc from "fast-check"
import { Result } from "effect"
import { assert, it } from "vitest"
import { readTag, showTag } from "./tag-text.ts"

it("peer-T34: any bytes are shown, and read back from what is shown", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 40 }), (tag) => {
      assert.deepStrictEqual([...Result.getOrThrow(readTag(showTag(tag)))], [...tag])
    })
  )
})

it("text stands for its UTF-8, and a backslash alone is refused", () => {
  assert.deepStrictEqual(
    [...Result.getOrThrow(readTag("Zürich"))],
    [...new TextEncoder().encode("Zürich")]
  )
  const refused = readTag("a\\b")
  assert.include(Result.isFailure(refused) ? refused.failure : "", "\\x5c")
})
