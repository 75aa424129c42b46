import { createHmac } from "node:crypto"
import { assert, describe, it } from "@effect/vitest"
import { Redacted, Schema } from "effect"
import { macWith } from "./cluster-key.ts"

describe("the cluster's key", () => {
  it.prop(
    "makes the HMAC-SHA-256 of any text, long ones between short ones",
    { key: Schema.Uint8Array.check(Schema.isMaxLength(64)), texts: Schema.Array(Schema.String) },
    ({ key, texts }) => {
      const mac = macWith(Redacted.make(key))
      for (const text of [...texts, "ü".repeat(3_000), ...texts]) {
        const expected = createHmac("sha256", key).update(text).digest()
        assert.deepStrictEqual(Buffer.from(mac(text)).toString("hex"), expected.toString("hex"))
      }
    }
  )
})
