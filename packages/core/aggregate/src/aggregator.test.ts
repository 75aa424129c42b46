import { Option } from "effect"
import { deflateSync, inflateSync } from "node:zlib"
import { createHash } from "node:crypto"
import { describe, expect, it } from "vitest"
import {
  Aggregator,
  type AggregatorOptions,
  deaggregator,
  invariants,
  type NewUserRecord
} from "./index.ts"
import { bytes, join, record, sample, sealing, text } from "./testing/wire.ts"

const md5 = (input: Uint8Array): Uint8Array => createHash("md5").update(input).digest()
const seal = sealing(md5)

const open = deaggregator({
  md5,
  privateFormats: { inflate: (input, maxOutputLength) => inflateSync(input, { maxOutputLength }) }
})
const make = (options: Partial<AggregatorOptions> = {}): Aggregator =>
  new Aggregator({ md5, ...options })
const one = (partitionKey: string, data: string, rest: Partial<NewUserRecord> = {}) => ({
  partitionKey,
  data: text(data),
  ...rest
})
const finish = (aggregator: Aggregator) => Option.getOrThrow(aggregator.finish())
const keysOf = (data: Uint8Array): ReadonlyArray<ReadonlyArray<string | undefined>> => {
  const outcome = open(data)
  if (outcome._tag !== "Aggregate") throw new Error(outcome._tag)
  return outcome.records.map(({ explicitHashKey, partitionKey }) => [partitionKey, explicitHashKey])
}

describe("an aggregator", () => {
  it("writes what a second encoder writes of the same records", () => {
    const aggregator = make()
    const hashKey = "170141183460469231731687303715884105728"
    aggregator.add(one("orders", "first", { explicitHashKey: hashKey }))
    // The sample names the second key before the third record, the aggregator as well.
    aggregator.add(one("clicks", ""))
    const tags = [
      { key: "colour", value: "red" },
      { key: "bare", value: undefined }
    ]
    aggregator.add(one("orders", "third", { tags }))
    expect(finish(aggregator)).toEqual({
      partitionKey: "orders",
      explicitHashKey: hashKey,
      data: seal(sample),
      records: 3,
      isAggregated: true
    })
  })

  it("worker-F3: keeps the order of keys that look like integers", () => {
    const aggregator = make()
    aggregator.add(one("10", "a", { explicitHashKey: "7" }))
    aggregator.add(one("2", "b", { explicitHashKey: "3" }))
    aggregator.add(one("10", "c", { explicitHashKey: "3" }))
    expect(keysOf(finish(aggregator).data)).toEqual([
      ["10", "7"],
      ["2", "3"],
      ["10", "3"]
    ])
  })

  it("sends an aggregate where its first record would go", () => {
    const aggregator = make()
    aggregator.add(one("k", "a"))
    aggregator.add(one("l", "b", { explicitHashKey: "3" }))
    expect(finish(aggregator)).toMatchObject({ partitionKey: "k", explicitHashKey: undefined })
    aggregator.add(one("l", "b", { explicitHashKey: "3" }))
    aggregator.add(one("k", "a"))
    expect(finish(aggregator)).toMatchObject({ partitionKey: "l", explicitHashKey: "3" })
  })

  it("has nothing to finish when nothing was added, or all is finished", () => {
    const aggregator = make()
    expect(aggregator.finish()).toEqual(Option.none())
    aggregator.add(one("k", "a"))
    finish(aggregator)
    expect([aggregator.records, aggregator.finish()]).toEqual([0, Option.none()])
  })

  it("begins each aggregate with empty tables", () => {
    const aggregator = make({ single: "aggregated" })
    aggregator.add(one("k", "a"))
    aggregator.add(one("l", "b"))
    finish(aggregator)
    aggregator.add(one("l", "b"))
    const message = join(bytes(1, "l"), record({ key: 0, data: "b" }))
    expect(finish(aggregator).data).toEqual(seal(message))
  })
})

describe("a record that is alone", () => {
  const single = (added: NewUserRecord, options: Partial<AggregatorOptions> = {}) => {
    const aggregator = make(options)
    aggregator.add(added)
    return finish(aggregator)
  }

  it("goes out plain, with its own keys", () => {
    expect(single(one("k", "data", { explicitHashKey: "5" }))).toEqual({
      partitionKey: "k",
      explicitHashKey: "5",
      data: text("data"),
      records: 1,
      isAggregated: false
    })
  })

  it.each([
    { name: "when asked to", added: one("k", "a"), options: { single: "aggregated" as const } },
    { name: "when it has tags", added: one("k", "a", { tags: [{ key: "t", value: "v" }] }) },
    { name: "when it would be opened itself", added: { partitionKey: "k", data: seal(sample) } },
    {
      name: "when a reader of private formats would open it",
      added: { partitionKey: "k", data: seal(sample, 0x00) }
    }
  ])("goes out in a message $name", ({ added, options }) => {
    const sent = single(added, options)
    expect(sent.isAggregated).toBe(true)
    expect(open(sent.data)).toEqual({
      _tag: "Aggregate",
      format: "standard",
      records: [{ explicitHashKey: undefined, tags: [], ...added }]
    })
  })
})

describe("the limits of an aggregator", () => {
  it("are met exactly, outer keys included", () => {
    const records = [one("key", "a".repeat(200), { explicitHashKey: "12" }), one("other", "b")]
    const measure = make()
    for (const added of records) measure.add(added)
    const size = finish(measure).data.length + "key".length + "12".length
    for (const slack of [-1, 0]) {
      const aggregator = make({ limits: { bytes: size + slack } })
      const additions = records.map((added) => aggregator.add(added))
      expect(additions[1]).toEqual(
        slack === 0 ? { _tag: "Added", records: 2, bytes: size } : { _tag: "Full", limit: "bytes" }
      )
      expect(invariants(aggregator)).toEqual([])
    }
  })

  it("say full at a number of records, and leave the aggregator as it was", () => {
    const aggregator = make({ limits: { records: 2 } })
    expect(["a", "b", "c"].map((data) => aggregator.add(one(data, data))._tag)).toEqual([
      "Added",
      "Added",
      "Full"
    ])
    expect(invariants(aggregator)).toEqual([])
    expect(keysOf(finish(aggregator).data).map(([key]) => key)).toEqual(["a", "b"])
    expect(aggregator.add(one("c", "c"))._tag).toBe("Added")
  })

  it("refuse a record that is too large alone, whatever is in already", () => {
    const aggregator = make({ limits: { bytes: 100 }, single: "aggregated" })
    const large = one("k", "x".repeat(100))
    expect(aggregator.add(large)).toMatchObject({ _tag: "TooLarge", bytes: 130, limit: 100 })
    aggregator.add(one("k", "small"))
    expect(aggregator.add(large)).toMatchObject({ _tag: "TooLarge", bytes: 130, limit: 100 })
    expect(aggregator.add(one("k", "x".repeat(60)))).toEqual({ _tag: "Full", limit: "bytes" })
    expect(aggregator.records).toBe(1)
  })

  it("let a record through plain that has no room for an envelope", () => {
    const aggregator = make({ limits: { bytes: 100 } })
    const exact = one("k", "x".repeat(99))
    expect(aggregator.add(exact)).toEqual({ _tag: "Added", records: 1, bytes: 100 })
    expect(aggregator.add(one("k", ""))).toEqual({ _tag: "Full", limit: "bytes" })
    expect(finish(aggregator)).toMatchObject({ isAggregated: false, data: exact.data })
    expect(aggregator.add(one("k", "x".repeat(100)))._tag).toBe("TooLarge")
  })

  it("are 1 MiB by default", () => {
    const aggregator = make()
    const data = new Uint8Array(1024)
    let bytes = 0
    for (;;) {
      const addition = aggregator.add({ partitionKey: "k", data })
      if (addition._tag !== "Added") break
      bytes = addition.bytes
    }
    const sent = finish(aggregator)
    expect(sent.data.length + 1).toBe(bytes)
    expect(bytes).toBeGreaterThan(1024 * 1024 - 1024 - 10)
    expect(bytes).toBeLessThanOrEqual(1024 * 1024)
  })
})

describe("an aggregator refuses", () => {
  it.each([
    { name: "an empty partition key", added: one("", "a"), what: "partitionKey" },
    { name: "one of 257 characters", added: one("🙂".repeat(257), "a"), what: "partitionKey" },
    { name: "one with a lone surrogate", added: one("k\ud800", "a"), what: "partitionKey" },
    { name: "a huge one", added: one("k".repeat(100_000), "a"), what: "partitionKey" },
    ...["", "-1", "01", "1.5", "0x1", String(2n ** 128n), "9".repeat(1_000)].map((key) => ({
      name: `the hash key "${key.slice(0, 45)}"`,
      added: one("k", "a", { explicitHashKey: key }),
      what: "explicitHashKey"
    })),
    { name: "a tag", added: one("k", "a", { tags: [{ key: "\udc00", value: "" }] }), what: "tag" },
    {
      name: "the value of a tag",
      added: one("k", "a", { tags: [{ key: "", value: "\ud800" }] }),
      what: "tag"
    }
  ])("$name", ({ added, what }) => {
    const aggregator = make()
    expect(aggregator.add(added)).toMatchObject({ _tag: "Unfit", what })
    expect(aggregator.records).toBe(0)
  })

  it("nothing at the edge of that", () => {
    const aggregator = make()
    const hashKey = String(2n ** 128n - 1n)
    const added = [
      one("🙂".repeat(256), ""),
      one("k", "", { explicitHashKey: hashKey }),
      one("k", "", { explicitHashKey: "0" })
    ]
    expect(added.map((each) => aggregator.add(each)._tag)).toEqual(["Added", "Added", "Added"])
  })
})

describe("the private formats", () => {
  it("are written as they are read, within the limit", () => {
    const noise = Uint8Array.from({ length: 900 }, (_, at) => (at * at * 31) >> 3)
    for (const format of [
      { _tag: "Hidden" } as const,
      { _tag: "Deflated", deflate: (input: Uint8Array) => deflateSync(input) } as const
    ]) {
      const aggregator = make({ format, limits: { bytes: 2_100 } })
      expect(aggregator.add({ partitionKey: "k", data: noise })._tag).toBe("Added")
      expect(aggregator.add({ partitionKey: "k", data: noise })._tag).toBe("Added")
      expect(aggregator.add({ partitionKey: "k", data: noise })._tag).toBe("Full")
      const outcome = open(finish(aggregator).data)
      expect(outcome).toMatchObject({ format: format._tag.toLowerCase() })
      if (outcome._tag !== "Aggregate") return expect.unreachable()
      expect(outcome.records.map(({ data }) => data)).toEqual([noise, noise])
    }
  })

  it("have a defect found that makes an aggregate larger than it may be", () => {
    const deflate = (input: Uint8Array): Uint8Array => new Uint8Array(input.length + 1_000)
    const aggregator = make({ format: { _tag: "Deflated", deflate }, limits: { bytes: 300 } })
    aggregator.add(one("k", "a"))
    aggregator.add(one("k", "b"))
    expect(() => aggregator.finish()).toThrow("over its limit")
  })
})
