import { createHmac } from "node:crypto"
import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted, Schema } from "effect"
import { createClusterKey, macWith, readClusterKey } from "./cluster-key.ts"

const inFolder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "holdfast-key-"))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
)

const refusal = (file: string) => Effect.map(Effect.flip(readClusterKey(file)), (e) => e.message)

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

  it.effect("is made once, for its owner only, and read back", () =>
    Effect.gen(function* () {
      const file = join(yield* inFolder, "key")
      yield* createClusterKey(file)
      const first = readFileSync(file, "utf8")
      yield* createClusterKey(file)
      assert.strictEqual(readFileSync(file, "utf8"), first)
      assert.strictEqual(statSync(file).mode & 0o777, 0o600)
      const key = yield* readClusterKey(file)
      assert.strictEqual(Redacted.value(key).length, 32)
      assert.strictEqual(macWith(key)("text").length, 32)
      assert.notInclude(JSON.stringify(key), first.trim())
    })
  )

  it.effect("is refused when it is missing, malformed or readable by others", () =>
    Effect.gen(function* () {
      const folder = yield* inFolder
      const file = join(folder, "key")
      assert.include(yield* refusal(file), "openssl rand -hex 32")
      writeFileSync(file, "secret", { mode: 0o600 })
      const malformed = yield* refusal(file)
      assert.include(malformed, "64 hex digits")
      assert.notInclude(malformed, "secret")
      chmodSync(file, 0o644)
      assert.include(yield* refusal(file), "chmod 600")
      assert.include(yield* refusal(folder), "cannot be used")
    })
  )
})
