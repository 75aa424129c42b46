import { Result } from "effect"
import fc from "fast-check"
import { createHash } from "node:crypto"
import { describe, expect, it } from "vitest"
import {
  KEY_SPACE_SIZE,
  keyFromBigInt,
  keyFromBytes,
  keyFromHash,
  keyFromHex,
  keyRotation,
  keyToBytes,
  MAX_KEY,
  MIN_KEY,
  nextKey,
  PartitionKey,
  previousKey
} from "./index.ts"

const anyNumber = fc.bigInt({ min: 0n, max: KEY_SPACE_SIZE - 1n })
const sha256 = (bytes: Uint8Array): Uint8Array => createHash("sha256").update(bytes).digest()

describe("PartitionKey", () => {
  it("orders as its number does", () => {
    fc.assert(
      fc.property(anyNumber, anyNumber, (a, b) => {
        expect(keyFromBigInt(a) < keyFromBigInt(b)).toBe(a < b)
      })
    )
  })

  it("goes to bytes and back", () => {
    fc.assert(
      fc.property(anyNumber.map(keyFromBigInt), (key) => {
        expect(keyFromBytes(keyToBytes(key))).toBe(key)
        expect(Buffer.from(keyToBytes(key)).toString("hex")).toBe(key)
      })
    )
    expect(() => keyFromBytes(new Uint8Array(31))).toThrow("32 bytes")
  })

  it("has neighbours, but none beyond the ends", () => {
    expect(previousKey(MIN_KEY)).toBeUndefined()
    expect(nextKey(MAX_KEY)).toBeUndefined()
    fc.assert(
      fc.property(anyNumber.map(keyFromBigInt), (key) => {
        const next = nextKey(key)
        if (next !== undefined) expect(previousKey(next)).toBe(key)
      })
    )
  })

  const texts: ReadonlyArray<readonly [text: string, key: string | undefined]> = [
    ["0", "0".repeat(64)],
    ["Ff", `${"0".repeat(62)}ff`],
    ["f".repeat(64), MAX_KEY],
    ["", undefined],
    ["f".repeat(65), undefined],
    ["0x1", undefined],
    ["12 ", undefined],
    ["xyz", undefined]
  ]
  for (const [text, key] of texts) {
    it(`reads "${text.slice(0, 8)}" (${text.length} characters) as ${key ? "a key" : "no key"}`, () => {
      expect(Result.getOrUndefined(keyFromHex(text))).toBe(key)
    })
  }

  it("is exactly 64 lower-case digits", () => {
    expect(() => PartitionKey.make("F".repeat(64))).toThrow()
    expect(() => PartitionKey.make("f".repeat(63))).toThrow()
  })

  it("comes from the SHA-256 of a name", () => {
    expect(keyFromHash(sha256, new TextEncoder().encode("abc"))).toBe(
      "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    )
  })

  it("rotates by its low 32 bits", () => {
    expect(keyRotation(keyFromBigInt(0x1_2345_6789n))).toBe(0x2345_6789)
    expect(keyRotation(MAX_KEY)).toBe(0xffff_ffff)
  })
})
