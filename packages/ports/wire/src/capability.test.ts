import { createHmac } from "node:crypto"
import { Result } from "effect"
import fc from "fast-check"
import { assert, describe, it } from "@effect/vitest"
import {
  ringOfOne,
  signCapability,
  signReceipt,
  verifyCapability,
  verifyReceipt
} from "./capability.ts"

const macWith = (key: string) => (text: string) =>
  new Uint8Array(createHmac("sha256", key).update(text).digest())
const mac = macWith("secret")
const ring = ringOfOne(mac)
const wanted = {
  clusterId: "c1",
  deviceId: "d1",
  fileId: 7,
  chunkId: 0,
  version: 12,
  right: "read"
} as const
const token = signCapability(mac, { ...wanted, expires: 1_000 })
const verify = (change: Partial<Parameters<typeof verifyCapability>[0]>) =>
  verifyCapability({ ring, token, wanted, nowSeconds: 999, ...change })

describe("capabilities", () => {
  it("a token is accepted for exactly what it was issued for", () => {
    assert.isTrue(Result.isSuccess(verify({})))
  })

  it.each([
    ["another key", { ring: ringOfOne(macWith("other")) }, "forged"],
    ["another device", { wanted: { ...wanted, deviceId: "d2" } }, "other-claims"],
    ["another version", { wanted: { ...wanted, version: 13 } }, "other-claims"],
    ["another right", { wanted: { ...wanted, right: "write" as const } }, "other-claims"],
    ["another cluster", { wanted: { ...wanted, clusterId: "c2" } }, "other-claims"],
    ["after its time", { nowSeconds: 1_001 }, "expired"],
    ["no dot", { token: "abc" }, "malformed"],
    ["three parts", { token: `${token}.x` }, "malformed"],
    ["too long", { token: "a".repeat(2_000) }, "malformed"]
  ] as const)("%s: refused", (_name, change, reason) => {
    assert.deepStrictEqual(verify(change), Result.fail(reason))
  })

  it("what either key of a ring has signed is accepted, until one is taken out", () => {
    const [before, after] = [macWith("before"), macWith("after")]
    let verifies = [before]
    const changing = { sign: before, verifies: () => verifies }
    const signed = (key: typeof mac) => signCapability(key, { ...wanted, expires: 1_000 })
    const accepts = (key: typeof mac) =>
      Result.isSuccess(verify({ ring: changing, token: signed(key) }))
    assert.deepStrictEqual([accepts(before), accepts(after)], [true, false])
    verifies = [after, before]
    assert.deepStrictEqual([accepts(before), accepts(after)], [true, true])
    verifies = [after]
    assert.deepStrictEqual([accepts(before), accepts(after)], [false, true])
  })

  it("a token with any character changed is refused", () => {
    fc.assert(
      fc.property(fc.nat(token.length - 1), fc.constantFrom("A", "b", "0", "_", "-"), (at, c) => {
        fc.pre(token[at] !== c)
        const changed = token.slice(0, at) + c + token.slice(at + 1)
        const result = verify({ token: changed })
        // the last character of base64url carries unused bits: the bytes may be the same
        if (Result.isSuccess(result)) assert.strictEqual(at, token.length - 1)
      })
    )
  })

  it("a receipt's proof covers every field", () => {
    const receipt = {
      clusterId: "c1",
      deviceId: "d1",
      epoch: 3,
      fileId: 7,
      chunkId: 0,
      version: 12,
      length: 100,
      checksum: 5
    }
    const proof = signReceipt(mac, receipt)
    assert.isTrue(verifyReceipt({ ring, proof, receipt }))
    const changed = Object.entries(receipt).map(([name, value]) => ({
      ...receipt,
      [name]: typeof value === "number" ? value + 1 : `${value}x`
    }))
    for (const other of changed) assert.isFalse(verifyReceipt({ ring, proof, receipt: other }))
  })
})
