import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { crc32 } from "node:zlib"
import { blockChecksums } from "./block-file-checksums.ts"
import { blockBytes } from "./block-file-format.ts"
import { checksumJoiner } from "./checksum-join.ts"

describe("joined checksums", () => {
  it.prop(
    "are the checksum of the joined bytes",
    { first: Schema.Uint8Array, second: Schema.Uint8Array },
    ({ first, second }) => {
      const joined = checksumJoiner(second.length)(crc32(first), crc32(second))
      assert.strictEqual(joined, crc32(Buffer.concat([first, second])))
    }
  )

  it("of a chunk's blocks are the chunk's, however its bytes come", () => {
    const lengths = [0, 1, blockBytes - 1, blockBytes, blockBytes + 1, 3 * blockBytes + 77]
    for (const length of lengths) {
      const bytes = Uint8Array.from({ length }, (_, index) => (index * 31 + (index >> 9)) & 0xff)
      for (const step of [1_000, blockBytes, blockBytes + 3]) {
        const checksums = blockChecksums(length)
        for (let at = 0; at < length; at += step) checksums.add(bytes.subarray(at, at + step))
        assert.strictEqual(checksums.result().whole, crc32(bytes), `${length} by ${step}`)
      }
    }
  })
})
