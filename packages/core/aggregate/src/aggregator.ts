/**
 * Making aggregated records.
 *
 * Invariants:
 * 1. What `finish` makes is exactly as large as was computed, and never over the limit: message,
 *    magic number, digest, outer partition key, outer explicit hash key.
 * 2. It holds every record that was `Added`, in that order, and the tables in the order in which
 *    their keys were first seen. The same records make the same bytes.
 * 3. The outer keys are those of the first record: the aggregate goes where that one would go.
 * 4. A record goes out plain only if a reader takes it back as the same record: it is alone, has
 *    no tags and does not begin with a magic number.
 * 5. An addition that is not `Added` changes nothing.
 */
import { Option } from "effect"
import { type Addition, unfitness } from "./addition.ts"
import { ensure } from "./assertion.ts"
import { digestBytes, firstByteOf, formatOf, magic, magicBytes, messageField } from "./format.ts"
import { type Entry, KeyTable } from "./key-table.ts"
import { defaultWriteLimits, type WriteLimits } from "./limits.ts"
import { type PendingRecord, pendingRecord, writeRecord } from "./pending-record.ts"
import type { Deflate, Md5 } from "./platform.ts"
import { type NewUserRecord, noTags } from "./user-record.ts"
import { fieldBytes, WireWriter } from "./wire-writer.ts"

/** The format to write; the private ones are opened by those alone who know them. */
export type OutgoingFormat =
  | { readonly _tag: "Standard" }
  | { readonly _tag: "Hidden" }
  | { readonly _tag: "Deflated"; readonly deflate: Deflate }

/** What an aggregator is given. */
export interface AggregatorOptions {
  readonly md5: Md5
  readonly limits?: Partial<WriteLimits>
  /** How a record goes out that is alone: `plain` (as from the KPL, the default), or aggregated. */
  readonly single?: "plain" | "aggregated"
  readonly format?: OutgoingFormat
}

/** A record to be put on a stream. */
export interface Outgoing {
  readonly partitionKey: string
  readonly explicitHashKey: string | undefined
  readonly data: Uint8Array
  /** User records in it. */
  readonly records: number
  readonly isAggregated: boolean
}

/** The outer keys, and their size. */
interface Outer {
  readonly partitionKey: string
  readonly explicitHashKey: string | undefined
  readonly bytes: number
}

/** What `invariants` recounts. */
export interface AggregatorContents {
  readonly limits: WriteLimits
  readonly partitionKeys: KeyTable
  readonly explicitHashKeys: KeyTable
  readonly records: ReadonlyArray<PendingRecord>
  readonly messageBytes: number
}

const outerOf = (record: NewUserRecord, partition: Entry, hash: Entry | undefined): Outer => ({
  partitionKey: record.partitionKey,
  explicitHashKey: record.explicitHashKey,
  bytes: partition.encoded.length + (hash?.encoded.length ?? 0)
})

/** What `Deflate` may add to its input at most. */
const deflateGrowth = (bytes: number): number => Math.floor(bytes / 1024) + 64

/** Collects user records until they are full or `finish` is called, any number of times. */
export class Aggregator {
  readonly #md5: Md5
  readonly #limits: WriteLimits
  readonly #single: "plain" | "aggregated"
  readonly #format: OutgoingFormat
  #partitionKeys = new KeyTable()
  #explicitHashKeys = new KeyTable()
  #records: Array<PendingRecord> = []
  #messageBytes = 0
  #outer: Outer | undefined

  constructor(options: AggregatorOptions) {
    this.#md5 = options.md5
    this.#limits = { ...defaultWriteLimits, ...options.limits }
    this.#single = options.single ?? "plain"
    this.#format = options.format ?? { _tag: "Standard" }
  }

  /** Records added since the last `finish`. */
  get records(): number {
    return this.#records.length
  }

  /** What stands in it, for `invariants`. */
  get contents(): AggregatorContents {
    return {
      limits: this.#limits,
      partitionKeys: this.#partitionKeys,
      explicitHashKeys: this.#explicitHashKeys,
      records: this.#records,
      messageBytes: this.#messageBytes
    }
  }

  /** Adds a record at the end, in time that grows with its keys and tags and not with its data. */
  add(record: NewUserRecord): Addition {
    const refusal = unfitness(record)
    if (refusal !== undefined) return refusal
    const { data, explicitHashKey } = record
    const partition = this.#partitionKeys.find(record.partitionKey)
    const hash =
      explicitHashKey === undefined ? undefined : this.#explicitHashKeys.find(explicitHashKey)
    const pending = pendingRecord({
      partitionKeyIndex: partition.index,
      explicitHashKeyIndex: hash?.index,
      data,
      tags: record.tags ?? noTags
    })
    const isFirst = this.#outer === undefined
    const outer = this.#outer ?? outerOf(record, partition, hash)
    const messageBytes =
      this.#messageBytes + fieldBytes(pending.bytes) + partition.added + (hash?.added ?? 0)
    const bytes =
      isFirst && this.#goesPlain(pending)
        ? outer.bytes + data.length
        : outer.bytes + this.#envelopeBytes(messageBytes)
    if (bytes > this.#limits.bytes) return this.#overLimit(record, bytes)
    if (this.#records.length >= this.#limits.records) return { _tag: "Full", limit: "records" }
    this.#outer = outer
    this.#partitionKeys.enter(partition)
    if (hash !== undefined) this.#explicitHashKeys.enter(hash)
    this.#records.push(pending)
    this.#messageBytes = messageBytes
    return { _tag: "Added", records: this.#records.length, bytes }
  }

  /** The record made of what was added; none when nothing was. Empties the aggregator. */
  finish(): Option.Option<Outgoing> {
    const outer = this.#outer
    const [first] = this.#records
    if (outer === undefined || first === undefined) return Option.none()
    const { explicitHashKey, partitionKey } = outer
    const records = this.#records.length
    const isAggregated = records > 1 || !this.#goesPlain(first)
    const data = isAggregated ? this.#seal() : first.data
    ensure(data.length + outer.bytes <= this.#limits.bytes, "an aggregate is over its limit")
    this.#clear()
    return Option.some({ partitionKey, explicitHashKey, data, records, isAggregated })
  }

  #clear(): void {
    this.#partitionKeys = new KeyTable()
    this.#explicitHashKeys = new KeyTable()
    this.#records = []
    this.#messageBytes = 0
    this.#outer = undefined
  }

  #goesPlain(record: PendingRecord): boolean {
    const isLikeAggregate = formatOf(record.data) !== undefined
    return this.#single === "plain" && record.tags.length === 0 && !isLikeAggregate
  }

  #envelopeBytes(messageBytes: number): number {
    const checked = messageBytes + digestBytes
    switch (this.#format._tag) {
      case "Standard":
      case "Hidden":
        return magicBytes + checked
      case "Deflated":
        return magicBytes + checked + deflateGrowth(checked)
    }
  }

  /** Full, unless the record would be over the limit in an empty aggregator as well. */
  #overLimit(record: NewUserRecord, bytes: number): Addition {
    const limit = this.#limits.bytes
    if (this.#records.length === 0) {
      const message = `alone it comes to ${bytes} bytes: at most ${limit} would be right`
      return { _tag: "TooLarge", bytes, limit, message }
    }
    const empty = new Aggregator({
      md5: this.#md5,
      limits: this.#limits,
      single: this.#single,
      format: this.#format
    })
    const alone = empty.add(record)
    return alone._tag === "Added" ? { _tag: "Full", limit: "bytes" } : alone
  }

  #seal(): Uint8Array {
    const end = magicBytes + this.#messageBytes
    const writer = new WireWriter(new Uint8Array(end + digestBytes), magicBytes)
    for (const key of this.#partitionKeys.encodedKeys()) {
      writer.field(messageField.partitionKey, key)
    }
    for (const key of this.#explicitHashKeys.encodedKeys()) {
      writer.field(messageField.explicitHashKey, key)
    }
    for (const record of this.#records) {
      writer.fieldStart(messageField.record, record.bytes)
      writeRecord(writer, record)
    }
    ensure(writer.offset === end, "an aggregate is smaller than computed")
    writer.raw(this.#md5(writer.bytes.subarray(magicBytes, end)))
    writer.bytes.set(magic)
    switch (this.#format._tag) {
      case "Standard":
        return writer.bytes
      case "Hidden":
        writer.bytes[0] = firstByteOf.hidden
        return writer.bytes
      case "Deflated":
        return deflated(writer.bytes, this.#format.deflate)
    }
  }
}

const deflated = (sealed: Uint8Array, deflate: Deflate): Uint8Array => {
  const stream = deflate(sealed.subarray(magicBytes))
  const bytes = new Uint8Array(magicBytes + stream.length)
  bytes.set(magic)
  bytes[0] = firstByteOf.deflated
  bytes.set(stream, magicBytes)
  return bytes
}
