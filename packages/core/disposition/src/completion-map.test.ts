import { Result } from "effect"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { checkpoint } from "./checkpoint.ts"
import {
  type CompletionMap,
  emptyMap,
  highestClaim,
  runsOf,
  statusOf,
  withFinished
} from "./completion-map.ts"
import { decodeMap } from "./map-decode.ts"
import { encodeMap, formBits, formRuns } from "./map-encode.ts"
import { addPart, makePartSet } from "./part-set.ts"
import {
  admit,
  completeAll,
  enter,
  enterAll,
  epoch,
  openTracker
} from "./testing/tracker-notation.ts"

const runs = (base: bigint | undefined, ...pairs: ReadonlyArray<readonly [bigint, bigint]>) =>
  ({
    base,
    claims: { _tag: "Runs", from: pairs.map(([from]) => from), to: pairs.map(([, to]) => to) },
    partials: []
  }) satisfies CompletionMap

const read = (bytes: Uint8Array, base: bigint | undefined, newest?: bigint) =>
  decodeMap(bytes, { base, newest })

const codeOf = (result: ReturnType<typeof read>): string =>
  Result.isFailure(result) ? result.failure.code : "accepted"

describe("the completion map", () => {
  it("worker-A5: without a map the record after the checkpoint comes", () => {
    const map = Result.getOrThrow(read(new Uint8Array(0), 6n))
    const tracker = openTracker({ after: 6n, restored: map })
    expect(admit(tracker, 6)._tag).toBe("Finished")
    expect(admit(tracker, 7)._tag).toBe("Admitted")
  })

  it.each([
    { name: "noise", change: (bytes: Uint8Array) => bytes.map((byte) => byte ^ 0xa5) },
    { name: "one flipped bit", change: (bytes: Uint8Array) => bytes.with(9, bytes[9]! ^ 4) },
    { name: "a missing end", change: (bytes: Uint8Array) => bytes.slice(0, -3) },
    { name: "a foreign end", change: (bytes: Uint8Array) => Uint8Array.of(...bytes, 0) },
    { name: "a single byte", change: () => Uint8Array.of(0x48) }
  ])("worker-A4: a map damaged by $name is refused, and nothing is lost", ({ change }) => {
    const { bytes } = encodeMap(runs(41n, [43n, 44n], [60n, 99n]))
    expect(codeOf(read(change(bytes), 41n))).toBe("malformed")
    const tracker = openTracker({ after: 41n })
    expect(admit(tracker, 42)._tag).toBe("Admitted")
  })

  it("worker-A4: a map of another checkpoint is refused", () => {
    const { bytes } = encodeMap(runs(41n, [43n, 44n]))
    expect(codeOf(read(bytes, 40n))).toBe("wrong-base")
    expect(codeOf(read(bytes, undefined))).toBe("wrong-base")
    expect(codeOf(read(bytes, 41n))).toBe("accepted")
  })

  it("a map that claims more than the shard holds is refused", () => {
    const { bytes } = encodeMap(runs(41n, [43n, 44n]))
    expect(codeOf(read(bytes, 41n, 43n))).toBe("claims-too-much")
    expect(codeOf(read(bytes, 41n, 44n))).toBe("accepted")
  })

  it("a later format and a map over the limits are refused", () => {
    const { bytes } = encodeMap(runs(1n, [3n, 4n]))
    expect(codeOf(read(bytes.with(2, 9), 1n))).toBe("unsupported")
    expect(codeOf(decodeMap(bytes, { base: 1n, newest: undefined, maximumBytes: 4 }))).toBe(
      "too-large"
    )
    const finished = makePartSet(1_000)
    addPart(finished, 5)
    const inParts = encodeMap({ ...emptyMap(1n), partials: [{ position: 3n, finished }] }).bytes
    expect(codeOf(decodeMap(inParts, { base: 1n, newest: undefined, maximumParts: 999 }))).toBe(
      "malformed"
    )
  })

  it("format 1 stays readable", () => {
    const golden = {
      runs: "484d01022a0201010f2700c7c4354d",
      bits: "484d01012a020131002ae19c28",
      parts: "484d01022a00010205010dddd83c7c"
    }
    const finished = makePartSet(5)
    for (const index of [0, 2, 3]) addPart(finished, index)
    const maps = {
      runs: runs(41n, [43n, 44n], [60n, 99n]),
      bits: runs(41n, [43n, 43n], [47n, 48n]),
      parts: { ...emptyMap(41n), partials: [{ position: 44n, finished }] }
    }
    for (const name of ["runs", "bits", "parts"] as const) {
      const hex = Buffer.from(encodeMap(maps[name]).bytes).toString("hex")
      expect({ [name]: hex }).toEqual({ [name]: golden[name] })
      expect(codeOf(read(Uint8Array.from(Buffer.from(golden[name], "hex")), 41n))).toBe("accepted")
    }
  })

  it("takes the smaller form", () => {
    const scattered = runs(
      0n,
      ...Array.from({ length: 200 }, (_, at) => [BigInt(at * 2 + 1), BigInt(at * 2 + 1)] as const)
    )
    expect(encodeMap(scattered).bytes[3]).toBe(formBits)
    expect(encodeMap(runs(0n, [5n, 4_000n])).bytes[3]).toBe(formRuns)
  })

  it("stays within its bytes by leaving out the highest claims", () => {
    const wide = runs(
      0n,
      ...Array.from({ length: 2_000 }, (_, at) => {
        const position = BigInt(at + 1) * 10n ** 30n
        return [position, position + 1n] as const
      })
    )
    const { bytes, droppedRuns } = encodeMap(wide, 4_096)
    expect(bytes.length).toBeLessThanOrEqual(4_096)
    const kept = runsOf(Result.getOrThrow(read(bytes, 0n)).claims)
    expect(kept.from).toEqual(wide.claims.from.slice(0, 2_000 - droppedRuns))
    expect(droppedRuns).toBeGreaterThan(1_500)
  })

  it("a span of 100,000 takes 16 KiB at most", () => {
    const tracker = openTracker({ limits: { records: 100_000 } })
    for (let position = 0; position < 100_000; position++) {
      enter(tracker, position)
      if (position % 3 === 1) completeAll(tracker, position)
    }
    const { bytes, droppedRuns } = encodeMap(checkpoint(tracker).map)
    expect(bytes.length).toBeLessThanOrEqual(16 * 1024)
    expect(droppedRuns).toBe(0)
  })

  it("claims that a restart has not come to yet are carried on", () => {
    const first = openTracker()
    enterAll(first, 1, 2, 3, 4, 5)
    const sixth = enter(first, 6, 3)
    completeAll(first, 1, 3, 5)
    first.completePart(sixth, epoch, { index: 1, total: 3 })
    const { map, position } = checkpoint(first)
    const second = openTracker({ after: position!, restored: map })
    enter(second, 2)
    expect(admit(second, 3)._tag).toBe("Finished")
    const again = checkpoint(second)
    expect([again.position, highestClaim(again.map)]).toEqual([1n, 6n])
    const tags = [1n, 2n, 3n, 4n, 5n, 6n, 7n].map((at) => statusOf(again.map, at)._tag)
    expect(tags.map((tag) => tag.slice(0, 1)).join("")).toBe("FUFUFPU")
  })

  it("parts of an earlier run are not handed on; with another total all of them are", () => {
    const first = openTracker()
    const record = enter(first, 1, 40)
    for (const index of [0, 39]) first.completePart(record, epoch, { index, total: 40 })
    const { map } = checkpoint(first)
    const again = admit(openTracker({ restored: map }), 1, 40)
    expect(again._tag === "Resumed" && again.finished.count).toBe(2)
    expect(admit(openTracker({ restored: map }), 1, 41)._tag).toBe("Admitted")
  })

  it("takes in what another source knows to be finished, joined and above the base", () => {
    const finished = makePartSet(3)
    const map = { ...runs(10n, [12n, 13n], [20n, 20n]), partials: [{ position: 16n, finished }] }
    const more = withFinished(map, [
      { from: 14n, to: 17n },
      { from: 3n, to: 10n },
      { from: 8n, to: 11n },
      { from: 30n, to: 29n },
      { from: 19n, to: 25n }
    ])
    expect(more).toEqual(runs(10n, [11n, 17n], [19n, 25n]))
  })

  it("encoding and decoding answer the same for every position", () => {
    const gaps = fc.array(fc.tuple(fc.bigInt(1n, 40n), fc.bigInt(0n, 30n)), { maxLength: 60 })
    const scale = fc.constantFrom(1n, 1n, 7n, 10n ** 25n)
    fc.assert(
      fc.property(gaps, scale, fc.option(fc.bigInt(0n, 99n)), (stretches, factor, start) => {
        const base = start ?? undefined
        let before = base ?? -1n
        const pairs = stretches.map(([gap, length]): readonly [bigint, bigint] => {
          const from = before + 1n + gap * factor
          before = from + length
          return [from, before]
        })
        const map = runs(base, ...pairs)
        const decoded = Result.getOrThrow(read(encodeMap(map).bytes, base, before))
        expect(runsOf(decoded.claims)).toEqual(map.claims)
        for (const [from, to] of pairs) {
          for (const at of [from - 1n, from, to, to + 1n]) {
            expect(statusOf(decoded, at)).toEqual(statusOf(map, at))
          }
        }
      })
    )
  })

  it("no bytes whatever make the reader throw or claim the base", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), (noise) => {
        const bytes = Uint8Array.of(0x48, 0x4d, 1, ...noise)
        expect(["malformed", "wrong-base", "accepted"]).toContain(codeOf(read(bytes, 3n)))
      })
    )
  })
})
