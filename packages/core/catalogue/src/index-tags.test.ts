import fc from "fast-check"
import { createHash } from "node:crypto"
import { describe, expect, it } from "vitest"
import {
  archiveKey,
  archiveSettingsDefault,
  chunkIdOfTag,
  classesFrom,
  type IntervalWalk,
  makeTagIndex,
  overlapping,
  readIntervalTag,
  type SegmentEntry,
  segmentKey,
  type TagRange
} from "./index.ts"
import { compareBytes } from "./ordered-bytes.ts"

const platform = {
  sha256: (bytes: Uint8Array) => new Uint8Array(createHash("sha256").update(bytes).digest()),
  encodeText: (text: string) => new TextEncoder().encode(text)
}
const tags = makeTagIndex(platform)
const text = platform.encodeText

const segment = (fields: Partial<SegmentEntry> = {}): SegmentEntry => ({
  archive: "orders",
  shard: "ORDERS",
  first: 1n,
  last: 10n,
  complete: true,
  count: 10,
  rawBytes: 100,
  storedBytes: 50,
  timeMin: 1_000n,
  timeMax: 2_000n,
  chunk: { fileId: 1, chunkId: 1, version: 1, length: 50, checksum: 7 },
  digest: new Uint8Array(32),
  tags: [],
  rules: 0,
  ...fields
})

/** An index of segments, searched only as peers can be searched: ranges of sorted tags. */
const indexOf = (segments: ReadonlyArray<SegmentEntry>) => {
  const records = segments
    .flatMap((entry) =>
      tags.tagsOf({ _tag: "Segment", segment: entry }).map((tag) => ({ tag, entry }))
    )
    .toSorted((left, right) => compareBytes(left.tag, right.tag))
  const within = ({ from, upTo }: TagRange) =>
    records.filter(({ tag }) => compareBytes(tag, from) >= 0 && compareBytes(tag, upTo) <= 0)
  const walk = (over: IntervalWalk, from: bigint, to: bigint) => {
    const found: Array<SegmentEntry> = []
    let next = 0
    for (;;) {
      const first = within(classesFrom(over, next))[0]
      if (first === undefined) return found
      const known = readIntervalTag(over, first.tag)
      if (known === undefined) throw new Error("a tag of another walk")
      const range = overlapping(over, { class: known.class, from, to })
      found.push(...within(range).map(({ entry }) => entry))
      next = known.class + 1
    }
  }
  return { walk, within }
}

const isSubset = (part: ReadonlyArray<SegmentEntry>, of: ReadonlyArray<SegmentEntry>) =>
  part.every((entry) => of.includes(entry))

describe("walking intervals", () => {
  const interval = (max: bigint) =>
    fc
      .tuple(fc.bigInt(0n, max), fc.oneof(fc.constant(0n), fc.bigInt(0n, 40n), fc.bigInt(0n, max)))
      .map(([low, length]) => [low, low + length] as const)

  it("finds every segment that overlaps a range of positions, and none that is far from it", () => {
    const max = 2n ** 70n
    fc.assert(
      fc.property(fc.array(interval(max)), interval(max), (intervals, [from, to]) => {
        const all = intervals.map(([first, last]) => segment({ first, last }))
        const found = indexOf(all).walk(tags.byPosition("orders", "ORDERS"), from, to)
        const overlap = all.filter(({ first, last }) => last >= from && first <= to)
        expect(isSubset(overlap, found)).toBe(true)
        expect(new Set(found).size).toBe(found.length)
        for (const { first, last } of found) {
          expect(last + 4n * (last - first) + 4n >= from && first <= to).toBe(true)
        }
      })
    )
  })

  it("finds by tag value and time only segments that can hold the value", () => {
    const value = fc.constantFrom("a", "a\u0000", "b", "")
    const entry = fc.tuple(interval(1_000n), fc.uniqueArray(value), fc.boolean())
    fc.assert(
      fc.property(fc.array(entry), interval(1_000n), value, (entries, [from, to], wanted) => {
        const all = entries.map(([[timeMin, timeMax], values, overflowed]) => {
          const kept = overflowed ? [] : values.map(text)
          return segment({ timeMin, timeMax, tags: [{ name: "kind", overflowed, values: kept }] })
        })
        const index = indexOf(all)
        const found = [
          ...index.walk(tags.byValue("orders", "kind", text(wanted)), from, to),
          ...index.walk(tags.byOverflow("orders", "kind"), from, to)
        ].filter(({ timeMax, timeMin }) => timeMax >= from && timeMin <= to)
        const expected = all.filter(
          (_, at) =>
            (entries[at]?.[2] === true || entries[at]?.[1].includes(wanted) === true) &&
            entries[at][0][1] >= from &&
            entries[at][0][0] <= to
        )
        expect(new Set(found)).toEqual(new Set(expected))
        expect(found.length).toBe(expected.length)
      })
    )
  })
})

describe("other walks", () => {
  const all = [
    segment({ archive: "order", timeMax: 5_000n }),
    segment({ shard: "A", first: 5n, timeMax: 3_000n, chunk: { ...segment().chunk, chunkId: 9 } }),
    segment({ shard: "AB", timeMax: 4_000n }),
    segment({ shard: "A".repeat(255), timeMax: 2_000n })
  ]
  const index = indexOf(all)

  it("skip from shard to shard", () => {
    const shards: Array<string> = []
    let after: string | undefined
    for (;;) {
      const found = index.within(tags.shardsAfter("orders", after))[0]
      if (found === undefined) break
      after = found.entry.shard
      shards.push(after)
    }
    expect(shards).toEqual(["A", "A".repeat(255), "AB"])
  })

  it("give what expires, oldest first, of one archive", () => {
    const found = index.within(tags.expiring("orders", 3_000n))
    expect(found.map(({ entry }) => entry.timeMax)).toEqual([2_000n, 3_000n])
  })

  it("give the chunks of a file in order", () => {
    const found = index.within(tags.chunksOfFile(1))
    expect(found.map(({ tag }) => chunkIdOfTag(tag))).toEqual([1, 1, 1, 9])
  })
})

describe("the tags of an entry", () => {
  it("have at most 512 bytes, whatever the entry holds", () => {
    const longest = segment({
      archive: "a".repeat(64),
      shard: "\u0000".repeat(255),
      first: 2n ** 256n - 1n,
      last: 2n ** 256n - 1n,
      tags: [
        { name: "n".repeat(32), overflowed: false, values: [new Uint8Array(128)] },
        { name: "o".repeat(32), overflowed: true, values: [] }
      ]
    })
    const lengths = tags.tagsOf({ _tag: "Segment", segment: longest }).map(({ length }) => length)
    expect(lengths.length).toBe(7)
    expect(Math.max(...lengths)).toBeLessThanOrEqual(512)
  })

  it("are one for an archive, by name, and none for what is empty or expired", () => {
    const origin = { name: "orders", stream: "O", shards: [], fileId: 1, created: 0n }
    const archive = {
      origin,
      settings: archiveSettingsDefault,
      status: "active",
      revision: 0,
      rules: 0,
      rulesSince: {}
    } as const
    expect(tags.tagsOf({ _tag: "Archive", archive })).toEqual([text("Aorders")])
    expect(tags.tagsOf({ _tag: "Empty" })).toEqual([])
  })
})

describe("partition keys", () => {
  it("are 64 hex digits that differ where the entries do", () => {
    const keys = [
      archiveKey("a", platform),
      archiveKey("b", platform),
      segmentKey(segment({ archive: "a", shard: "bc" }), platform),
      segmentKey(segment({ archive: "ab", shard: "c" }), platform),
      segmentKey(segment({ archive: "a", shard: "bc", first: 256n }), platform),
      segmentKey(segment({ archive: "a", shard: "bc", complete: false }), platform),
      segmentKey(
        segment({ archive: "a", shard: "bc", complete: false, digest: new Uint8Array(32).fill(1) }),
        platform
      )
    ]
    for (const key of keys) expect(key).toMatch(/^[0-9a-f]{64}$/)
    expect(new Set(keys).size).toBe(keys.length)
  })

  it("are the same for complete segments that begin alike, whatever else they are", () => {
    const short = segment({ last: 5n, digest: new Uint8Array(32).fill(1) })
    const long = segment({ last: 50n, digest: new Uint8Array(32).fill(2) })
    expect(segmentKey(short, platform)).toBe(segmentKey(long, platform))
  })

  it("never change", () => {
    expect(archiveKey("orders", platform)).toMatchInlineSnapshot(
      `"deb4ca95af4060b84f0a7f2f8530da773f6f5d62edefc4114a36c4d408720978"`
    )
    expect(segmentKey(segment({ first: 42n, last: 43n }), platform)).toMatchInlineSnapshot(
      `"a58d2bdd077a681b36982c0ee51d2c2c055248b283de382ddddec65231967bc7"`
    )
  })
})
