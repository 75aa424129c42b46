import { createHash } from "node:crypto"
import { describe, expect, it } from "vitest"
import { deflateSync, inflateSync } from "node:zlib"
import { deaggregator } from "./index.ts"
import { join, sample, sealing, text } from "./testing/wire.ts"

const md5 = (input: Uint8Array): Uint8Array => createHash("md5").update(input).digest()
const seal = sealing(md5)

const inflate = (deflated: Uint8Array, bytesMax: number): Uint8Array =>
  inflateSync(deflated, { maxOutputLength: bytesMax })
const open = deaggregator({ md5, privateFormats: { inflate } })
const deflated = (content: Uint8Array): Uint8Array =>
  join(0x01, 0x89, 0x9a, 0xc2, deflateSync(content))

describe("the private formats, when they are on", () => {
  const standard = open(seal(sample))
  if (standard._tag !== "Aggregate") throw new Error("the sample must open")

  it.each([
    { format: "standard", input: seal(sample) },
    { format: "hidden", input: seal(sample, 0x00) },
    { format: "deflated", input: deflated(join(sample, md5(sample))) }
  ])("open $format into the same user records", ({ format, input }) => {
    expect(open(input)).toEqual({ ...standard, format })
  })

  it.each([
    {
      name: "no zlib stream",
      input: join(0x01, 0x89, 0x9a, 0xc2, text("text")),
      why: "NotInflated"
    },
    { name: "a cut zlib stream", input: deflated(sample).subarray(0, -8), why: "NotInflated" },
    { name: "nothing at all", input: Uint8Array.of(0x01, 0x89, 0x9a, 0xc2), why: "NotInflated" },
    { name: "a digest alone", input: deflated(md5(text(""))), why: "TooShort" },
    { name: "less than a digest", input: deflated(text("short")), why: "TooShort" },
    { name: "another digest", input: deflated(join(sample, md5(text("")))), why: "DigestMismatch" },
    { name: "a hidden wrong digest", input: join(seal(sample, 0x00), 1), why: "DigestMismatch" }
  ])("take a record with $name as plain", ({ input, why }) => {
    expect(open(input)).toMatchObject({ _tag: "Plain", why })
  })

  it("do not inflate a bomb", () => {
    const bomb = deflated(new Uint8Array(20 * 1024 * 1024))
    expect(bomb.length).toBeLessThan(32 * 1024)
    expect(open(bomb)).toMatchObject({ _tag: "Plain", why: "NotInflated" })
  })

  it("tell the platform the limit, and do not trust it to keep to it", () => {
    const content = join(sample, md5(sample))
    const asked: Array<number> = []
    const careless = (bytes: Uint8Array, bytesMax: number): Uint8Array => {
      asked.push(bytesMax)
      return inflateSync(bytes)
    }
    const at = (inflatedBytes: number) =>
      deaggregator({ md5, privateFormats: { inflate: careless }, limits: { inflatedBytes } })
    expect(at(content.length)(deflated(content))._tag).toBe("Aggregate")
    expect(at(content.length - 1)(deflated(content))).toMatchObject({ why: "NotInflated" })
    expect(asked).toEqual([content.length, content.length - 1])
  })
})
