import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { ringOfOne, signCapability, verifyCapability } from "@holdfast/wire"
import { Effect, Redacted, Result } from "effect"
import { macWith } from "./cluster-key.ts"
import { openKeyRing } from "./key-ring.ts"

const inFolder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "holdfast-ring-"))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
)

const [before, after] = ["ab".repeat(32), "cd".repeat(32)] as const
const macOf = (hex: string) => macWith(Redacted.make(new Uint8Array(Buffer.from(hex, "hex"))))
const wanted = {
  clusterId: "c",
  deviceId: "d",
  fileId: 1,
  chunkId: 0,
  version: 1,
  right: "read"
} as const
const tokenOf = (hex: string) => signCapability(macOf(hex), { ...wanted, expires: 10 })

describe("the ring of a key file", () => {
  it.live("follows the file, and stays as it is while the file is wrong", () =>
    Effect.gen(function* () {
      const file = join(yield* inFolder, "key")
      writeFileSync(file, `${before}\n`, { mode: 0o600 })
      const ring = yield* openKeyRing(file)
      const accepts = (hex: string) =>
        Result.isSuccess(verifyCapability({ ring, token: tokenOf(hex), wanted, nowSeconds: 1 }))
      const signsWith = (hex: string) =>
        Result.isSuccess(
          verifyCapability({
            ring: ringOfOne(macOf(hex)),
            token: signCapability(ring.sign, { ...wanted, expires: 10 }),
            wanted,
            nowSeconds: 1
          })
        )
      const until = (isSo: () => boolean) =>
        Effect.sleep("50 millis").pipe(
          Effect.repeat({ until: isSo, times: 400 }),
          Effect.andThen(Effect.sync(() => assert.isTrue(isSo())))
        )
      assert.deepStrictEqual([accepts(before), accepts(after)], [true, false])
      appendFileSync(file, `${after}\n`)
      yield* until(() => accepts(after))
      assert.isTrue(signsWith(before))
      writeFileSync(file, `${after}\n${before}\n`)
      yield* until(() => signsWith(after))
      assert.isTrue(accepts(before))
      rmSync(file)
      yield* Effect.sleep("1500 millis")
      assert.isTrue(signsWith(after) && accepts(before))
      writeFileSync(file, `${after}\n`, { mode: 0o600 })
      yield* until(() => !accepts(before))
      assert.isTrue(signsWith(after))
    })
  )
})
