/**
 * This codec against `aws-kinesis-agg`, both ways, on random records.
 *
 * What the known faults of that library spoil is left out of the random records, each kind by a
 * name. Each has a test below that shows the fault and what this codec does instead: when one of
 * those fails after an upgrade, its exclusion can go.
 */
import { aggregate, deaggregateSync, RecordAggregator } from "aws-kinesis-agg"
import { Option } from "effect"
import fc from "fast-check"
import { createHash } from "node:crypto"
import { describe, expect, it } from "vitest"
import { Aggregator, deaggregator, type NewUserRecord } from "./index.ts"
import "./testing/protobufjs.ts"
import { join, text } from "./testing/wire.ts"

declare module "aws-kinesis-agg" {
  /** Is exported, but not declared by the library itself. */
  export class RecordAggregator {
    addUserRecord(record: { readonly partitionKey: string; readonly data: string | Buffer }): void
  }
}

const md5 = (input: Uint8Array): Uint8Array => createHash("md5").update(input).digest()
const open = deaggregator({ md5 })

/** A user record as both libraries can say it. */
interface Untagged {
  readonly partitionKey: string
  readonly explicitHashKey: string | undefined
  readonly data: Uint8Array
}

const ours = (records: ReadonlyArray<NewUserRecord>) => {
  const aggregator = new Aggregator({ md5, single: "aggregated" })
  for (const record of records) expect(aggregator.add(record)._tag).toBe("Added")
  return Option.getOrThrow(aggregator.finish())
}

const openedByOurs = (data: Uint8Array): ReadonlyArray<Untagged> | string => {
  const outcome = open(data)
  if (outcome._tag !== "Aggregate") return outcome._tag
  return outcome.records.map(({ data, explicitHashKey, partitionKey }) => ({
    partitionKey,
    explicitHashKey,
    data
  }))
}

/** What their aggregator makes of records that fit into one message. */
const theirs = (records: ReadonlyArray<Untagged>) =>
  new Promise<{ readonly partitionKey: string; readonly data: Buffer }>((resolve, reject) => {
    const given = records.map(({ data, explicitHashKey, partitionKey }) => ({
      partitionKey,
      ...(explicitHashKey === undefined ? {} : { explicitHashKey }),
      data: Buffer.from(data)
    }))
    aggregate(
      given,
      (encoded, done) => {
        resolve(encoded)
        done()
      },
      () => reject(new Error("nothing was encoded")),
      reject
    )
  })

interface TheirOutcome {
  readonly records: ReadonlyArray<Untagged>
  readonly errors: ReadonlyArray<string>
}

const openedByTheirs = (data: Uint8Array, checked = true): TheirOutcome => {
  const errors: Array<string> = []
  let records: ReadonlyArray<Untagged> = []
  const base64 = Buffer.from(data).toString("base64")
  const outer = { data: base64, partitionKey: "outer", sequenceNumber: "1" }
  deaggregateSync(outer, checked, (error, emitted = []) => {
    if (error) errors.push(error.message)
    records = emitted.map((each) => ({
      partitionKey: each.partitionKey,
      explicitHashKey: each.explicitPartitionKey,
      data: Uint8Array.from(Buffer.from(each.data, "base64"))
    }))
  })
  return { records, errors }
}

// The exclusions, by name.
const isReorderedByTheirAggregator = (key: string): boolean =>
  String(Number(key) >>> 0) === key && key !== "4294967295"
const isInheritedByTheirTables = (key: string): boolean => key in {}
const isSafeForTheirAggregator = (key: string): boolean =>
  !isReorderedByTheirAggregator(key) && !isInheritedByTheirTables(key)

const odd = ["10", "2", "a", "__proto__", "hasOwnProperty", "\ufeff", "4294967295"]
const wellFormed = fc.string({ unit: "grapheme", minLength: 1, maxLength: 6 })
const partitionKey = fc.oneof(fc.constantFrom(...odd), wellFormed)
const hashKey = fc.oneof(
  fc.constantFrom("0", "7", "3", "4294967295"),
  fc.bigInt(0n, 2n ** 128n - 1n).map(String)
)
const data = fc.uint8Array({ maxLength: 300 })

/** Records that all have a hash key, or none of which has: their decoder cannot tell a mixture. */
const unmixed = (allows: (key: string) => boolean): fc.Arbitrary<ReadonlyArray<Untagged>> =>
  fc.boolean().chain((isHashed) =>
    fc.array(
      fc.record({
        partitionKey: partitionKey.filter(allows),
        explicitHashKey: isHashed ? hashKey.filter(allows) : fc.constant(undefined),
        data
      }),
      { minLength: 1, maxLength: 40 }
    )
  )

describe("aws-kinesis-agg", () => {
  it("opens what this codec makes", () => {
    fc.assert(
      fc.property(
        unmixed(() => true),
        (records) => {
          expect(openedByTheirs(ours(records).data)).toEqual({ records, errors: [] })
        }
      ),
      { numRuns: 300 }
    )
  })

  it("makes what this codec opens, and the same bytes", async () => {
    await fc.assert(
      fc.asyncProperty(unmixed(isSafeForTheirAggregator), async (records) => {
        const made = await theirs(records)
        expect(openedByOurs(made.data)).toEqual(records)
        const { data, partitionKey } = ours(records)
        expect(Buffer.from(data).equals(made.data)).toBe(true)
        expect(partitionKey).toBe(made.partitionKey)
      }),
      { numRuns: 300 }
    )
  })

  it("makes of a mixture, too, what this codec opens", async () => {
    const mixture = fc.record({
      partitionKey: partitionKey.filter(isSafeForTheirAggregator),
      explicitHashKey: fc.option(hashKey.filter(isSafeForTheirAggregator), { nil: undefined }),
      data
    })
    await fc.assert(
      fc.asyncProperty(fc.array(mixture, { minLength: 1, maxLength: 40 }), async (records) => {
        expect(openedByOurs((await theirs(records)).data)).toEqual(records)
      }),
      { numRuns: 150 }
    )
  })
})

const user = (partitionKey: string, data: string, explicitHashKey?: string): Untagged => ({
  partitionKey,
  explicitHashKey,
  data: text(data)
})

describe("a known fault of aws-kinesis-agg 4.2.8", () => {
  it("worker-F3: its aggregator swaps keys that look like integers", async () => {
    const byKey = [user("10", "first"), user("2", "second")]
    const swapped = [user("2", "first"), user("10", "second")]
    expect(openedByOurs((await theirs(byKey)).data)).toEqual(swapped)
    expect(openedByOurs(ours(byKey).data)).toEqual(byKey)
    const byHash = [user("k", "first", "7"), user("k", "second", "3")]
    const crossed = [user("k", "first", "3"), user("k", "second", "7")]
    expect(openedByOurs((await theirs(byHash)).data)).toEqual(crossed)
    expect(openedByOurs(ours(byHash).data)).toEqual(byHash)
  })

  it("its aggregator loses a key that its tables inherit, or throws", async () => {
    const lost = [user("__proto__", "first"), user("k", "second")]
    // The second key stands at index 0 of a table of one, where its record does not look for it.
    expect(openedByOurs((await theirs(lost)).data)).toBe("Plain")
    expect(openedByOurs(ours(lost).data)).toEqual(lost)
    const thrown = [user("hasOwnProperty", "first"), user("k", "second")]
    await expect(theirs(thrown)).rejects.toThrow("hasOwnProperty is not a function")
    expect(openedByOurs(ours(thrown).data)).toEqual(thrown)
  })

  it("worker-F4: its decoder gives a record without a hash key the first of the table", () => {
    const records = [user("a", "first", "5000000000"), user("b", "second")]
    const { data } = ours(records)
    expect(openedByTheirs(data).records[1]?.explicitHashKey).toBe("5000000000")
    expect(openedByOurs(data)).toEqual(records)
  })

  it("worker-F5: its decoder drops a record of a wrong digest, or trusts it unchecked", () => {
    const records = [user("a", "first")]
    const data = Uint8Array.from(ours(records).data)
    data[data.length - 1]! ^= 1
    expect(openedByTheirs(data)).toEqual({ records: [], errors: ["Invalid record checksum"] })
    expect(openedByTheirs(data, false)).toEqual({ records, errors: [] })
    expect(openedByOurs(data)).toBe("Plain")
  })

  it("worker-F7: its decoder drops ordinary text behind the magic number", () => {
    const data = join(0xf3, 0x89, 0x9a, 0xc2, text("ordinary text that is long enough"))
    const { errors, records } = openedByTheirs(data)
    expect(records).toEqual([])
    expect(errors).toHaveLength(1)
    expect(openedByOurs(data)).toBe("Plain")
  })

  it("worker-F10: its aggregator refuses empty data that is given as text", async () => {
    const empty = [user("k", "")]
    const add = () => new RecordAggregator().addUserRecord({ partitionKey: "k", data: "" })
    expect(add).toThrow("Data field is mandatory")
    expect(openedByOurs((await theirs(empty)).data)).toEqual(empty)
    expect(openedByOurs(ours(empty).data)).toEqual(empty)
  })

  it("its decoder knows no tags", () => {
    const tags = [{ key: "colour", value: "red" }]
    const { data } = ours([{ ...user("k", "first"), tags }])
    expect(openedByTheirs(data)).toEqual({ records: [user("k", "first")], errors: [] })
    expect(open(data)).toMatchObject({ records: [{ tags }] })
  })

  it("its aggregator counts characters as bytes, and goes over the limit of 1 MiB", async () => {
    // Four bytes a character, which it counts as two.
    const records = Array.from({ length: 2_500 }, (_, index) =>
      user(String.fromCodePoint(0x1f600 + (index % 64)).repeat(124) + String(index), "x")
    )
    const kinesisMax = 1024 * 1024
    expect((await theirs(records)).data.length).toBeGreaterThan(kinesisMax)
    const aggregator = new Aggregator({ md5 })
    const full = records.find((record) => aggregator.add(record)._tag === "Full")
    expect(full).toBeDefined()
    expect(Option.getOrThrow(aggregator.finish()).data.length).toBeLessThanOrEqual(kinesisMax)
  })
})
