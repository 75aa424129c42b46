/**
 * Opens aggregated messages: one record of the source becomes its user records.
 *
 * 1. A message that is no aggregate, or one that cannot be trusted, stays one record.
 * 2. A user record stands at the position and the time of its message, under its subject, with its
 *    headers and two of its own behind them: the partition key, and the explicit hash key if any.
 * 3. One level is opened. The same message gives the same user records, in any run.
 */
import { hash } from "node:crypto"
import { inflateSync } from "node:zlib"
import { deaggregator, type Md5, type PlainReason, type UserRecord } from "@holdfast/aggregate"
import type { RecordHeader, SourceRecord } from "@holdfast/records"
import type { Aggregation, WorkerConfig } from "./config.ts"

/** What a record of the source turned out to be. */
export type Opened =
  | { readonly _tag: "Whole"; readonly why: PlainReason }
  | { readonly _tag: "Aggregate"; readonly records: ReadonlyArray<SourceRecord> }

/** Opens one record. */
export type OpenRecord = (record: SourceRecord) => Opened

const encoder = new TextEncoder()
const partitionKeyName = encoder.encode("Kinesis-Partition-Key")
const explicitHashKeyName = encoder.encode("Kinesis-Explicit-Hash-Key")

const md5: Md5 = (bytes) => hash("md5", bytes, "buffer")

/** The opener that is asked for; none when everything stays whole. */
export const recordOpener = ({
  aggregation,
  limits
}: {
  readonly aggregation: Aggregation
  readonly limits: WorkerConfig["limits"]
}): OpenRecord | undefined => {
  if (aggregation === "none") return undefined
  const inflate = (deflated: Uint8Array, maxOutputLength: number): Uint8Array =>
    inflateSync(deflated, { maxOutputLength })
  const open = deaggregator({
    md5,
    limits: { records: limits.partsPerRecord },
    ...(aggregation === "kpl-and-private" ? { privateFormats: { inflate } } : {})
  })
  return (record) => {
    const opened = open(record.data)
    switch (opened._tag) {
      case "Aggregate":
        return { _tag: "Aggregate", records: userRecordsOf(record, opened.records) }
      case "Plain":
        return { _tag: "Whole", why: opened.why }
      case "Dropped":
        throw new Error("a record is outside a hash range, and none was given")
    }
  }
}

const userRecordsOf = (
  { headers, position, subject, timestamp }: SourceRecord,
  records: ReadonlyArray<UserRecord>
): ReadonlyArray<SourceRecord> => {
  const encoded = new Map<string, Uint8Array>()
  const bytesOf = (key: string): Uint8Array => {
    const known = encoded.get(key)
    if (known !== undefined) return known
    const bytes = encoder.encode(key)
    encoded.set(key, bytes)
    return bytes
  }
  return records.map(({ data, explicitHashKey, partitionKey }) => {
    const own: Array<RecordHeader> = [...headers, [partitionKeyName, bytesOf(partitionKey)]]
    if (explicitHashKey !== undefined) own.push([explicitHashKeyName, bytesOf(explicitHashKey)])
    return { position, timestamp, subject, headers: own, data }
  })
}
