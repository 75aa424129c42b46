import fc from "fast-check"
import { createHash } from "node:crypto"
import { describe, expect, it } from "vitest"
import { deflateSync, inflateSync } from "node:zlib"
import { deaggregator } from "./index.ts"
import { join, sample, sealing } from "./testing/wire.ts"

const md5 = (input: Uint8Array): Uint8Array => createHash("md5").update(input).digest()
const seal = sealing(md5)

const open = deaggregator({
  md5,
  privateFormats: { inflate: (input, maxOutputLength) => inflateSync(input, { maxOutputLength }) }
})
const forms = [
  { format: "standard", sound: seal(sample) },
  { format: "hidden", sound: seal(sample, 0x00) },
  {
    format: "deflated",
    sound: join(0x01, 0x89, 0x9a, 0xc2, deflateSync(join(sample, md5(sample))))
  }
]

describe.each(forms)("a damaged aggregate ($format)", ({ format, sound }) => {
  const intact = open(sound)

  it("worker-F5: with any one bit flipped is plain or the same as before", () => {
    expect(intact).toMatchObject({ _tag: "Aggregate", format })
    let plain = 0
    for (let bit = 0; bit < sound.length * 8; bit++) {
      const flipped = Uint8Array.from(sound)
      flipped[bit >> 3]! ^= 1 << (bit & 7)
      const outcome = open(flipped)
      if (outcome._tag === "Plain") plain++
      else expect(outcome, `bit ${bit}`).toEqual(intact)
    }
    // A few bits of a zlib stream mean nothing; in the other formats each bit counts.
    const least = format === "deflated" ? sound.length * 8 - 16 : sound.length * 8
    expect(plain).toBeGreaterThanOrEqual(least)
  })

  it("cut short anywhere is plain", () => {
    for (let length = 0; length < sound.length; length++) {
      expect(open(sound.subarray(0, length))._tag, `at ${length}`).toBe("Plain")
    }
  })
})

describe("a message that is damaged under a right digest", () => {
  const isWhole = (outcome: ReturnType<typeof open>): boolean =>
    outcome._tag !== "Aggregate" || outcome.records.every(({ data }) => data instanceof Uint8Array)

  it("is plain or an aggregate, never an exception, whichever bit was flipped", () => {
    const outcomes = new Set<string>()
    for (let bit = 0; bit < sample.length * 8; bit++) {
      const flipped = Uint8Array.from(sample)
      flipped[bit >> 3]! ^= 1 << (bit & 7)
      const outcome = open(seal(flipped))
      expect(isWhole(outcome)).toBe(true)
      outcomes.add(outcome._tag === "Plain" ? outcome.why : outcome._tag)
    }
    for (const seen of ["Aggregate", "Truncated", "PartitionKeyIndex", "MissingField"]) {
      expect(outcomes).toContain(seen)
    }
  })

  it("is plain or an aggregate wherever it was cut", () => {
    for (let length = 0; length < sample.length; length++) {
      expect(isWhole(open(seal(sample.subarray(0, length))))).toBe(true)
    }
  })

  it("is plain or an aggregate, whatever its bytes", () => {
    const wire = fc.constantFrom(
      0x08,
      0x0a,
      0x10,
      0x12,
      0x1a,
      0x22,
      0x4b,
      0x4c,
      0x80,
      0xff,
      0,
      1,
      2
    )
    const message = fc.array(fc.oneof(wire, fc.nat(255)), { maxLength: 60 })
    fc.assert(
      fc.property(message, (bytes) => isWhole(open(seal(Uint8Array.from(bytes))))),
      { numRuns: 3_000 }
    )
  })
})
