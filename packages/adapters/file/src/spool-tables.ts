/**
 * The tables of a spool and what is done to them inside a transaction.
 *
 *     streams   name                    -> first, last, bytes, appends
 *     records   name 00 position        -> timestamp, subject, headers, data
 *     appends   name 00 append id       -> first, last
 *     order     name 00 first           -> append id
 *     totals    "bytes"                 -> bytes of all streams
 */
import type { NewRecord, SourceRecord } from "@holdfast/records"
import { namedKey, numberKey, numberOfKey } from "./byte-keys.ts"
import type { Environment, Table } from "./environment.ts"
import { joinFrames, splitFrames } from "./frames.ts"
import { openValue, sealValue } from "./sealed-value.ts"
import { StoreRefused } from "./store-refused.ts"

/** Append ids that are known of a stream. */
const APPENDS_MAX = 1_024n
const TOTAL_KEY = Buffer.from("bytes")

/** The tables of a spool. */
export interface SpoolTables {
  readonly directory: string
  readonly streams: Table
  readonly records: Table
  readonly appends: Table
  readonly order: Table
  readonly totals: Table
}

/** Opens the tables. */
export const spoolTables = ({ directory, table }: Environment): SpoolTables => ({
  directory,
  streams: table("streams"),
  records: table("records"),
  appends: table("appends"),
  order: table("order"),
  totals: table("totals")
})

/** What a stream holds; `first` is one past `last` when it holds nothing. */
export interface StreamState {
  readonly first: bigint
  readonly last: bigint
  readonly bytes: bigint
  readonly appends: bigint
}

const NEW_STREAM: StreamState = { first: 1n, last: 0n, bytes: 0n, appends: 0n }

const writeNumbers = (table: Table, key: Buffer, numbers: ReadonlyArray<bigint>): void => {
  table.putSync(key, sealValue(key, Buffer.concat(numbers.map(numberKey))))
}

const readNumbers = (
  tables: SpoolTables,
  table: Table,
  key: Buffer
): ReadonlyArray<bigint> | undefined => {
  const sealed = table.get(key)
  if (sealed === undefined) return undefined
  const value = openValue(key, sealed)
  if (value === undefined) {
    const message = `The spool in ${tables.directory}: the checksum of its counts is wrong.`
    throw new StoreRefused({ code: "corrupt", message })
  }
  const bytes = Buffer.from(value)
  return Array.from({ length: bytes.length / 8 }, (_, index) => bytes.readBigUInt64BE(index * 8))
}

/** The table key of a stream. */
export const streamKey = (stream: string): Buffer => Buffer.from(stream, "utf8")

/** What a stream holds, or `undefined` where there is none. */
export const readStream = (tables: SpoolTables, stream: string): StreamState | undefined => {
  const numbers = readNumbers(tables, tables.streams, streamKey(stream))
  if (numbers === undefined) return undefined
  const [first = 1n, last = 0n, bytes = 0n, appends = 0n] = numbers
  return { first, last, bytes, appends }
}

const writeStream = (tables: SpoolTables, stream: string, state: StreamState): void =>
  writeNumbers(tables.streams, streamKey(stream), [
    state.first,
    state.last,
    state.bytes,
    state.appends
  ])

const readTotal = (tables: SpoolTables): bigint =>
  readNumbers(tables, tables.totals, TOTAL_KEY)?.[0] ?? 0n

/** A record as bytes: timestamp (8), then subject, headers and data, framed. */
export const encodeRecord = ({ data, headers, subject, timestamp }: NewRecord): Buffer =>
  Buffer.concat([
    numberKey(BigInt.asUintN(64, timestamp)),
    joinFrames([subject, ...headers.flat(), data])
  ])

/** The record of such bytes, or `undefined` when their checksum is wrong. */
export const decodeRecord = (key: Buffer, sealed: Buffer): SourceRecord | undefined => {
  const value = openValue(key, sealed)
  if (value === undefined) return undefined
  const [subject = new Uint8Array(), ...parts] = splitFrames(value.subarray(8))
  const data = parts.pop() ?? new Uint8Array()
  const headers = Array.from({ length: parts.length / 2 }, (_, index) => {
    const [name = data, content = data] = parts.slice(index * 2, index * 2 + 2)
    return [name, content] as const
  })
  const timestamp = BigInt.asIntN(64, Buffer.from(value.subarray(0, 8)).readBigUInt64BE(0))
  return { position: numberOfKey(key), timestamp, subject, headers, data }
}

/** The table key of a record. */
export const recordKey = (stream: string, position: bigint): Buffer =>
  namedKey(stream, numberKey(position))

/** Positions that an append was given. */
export interface AppendRange {
  readonly first: bigint
  readonly last: bigint
}

/** Forgets the oldest append id when there are too many; answers how many there are. */
const forgetOldestAppend = (tables: SpoolTables, stream: string, appends: bigint): bigint => {
  if (appends <= APPENDS_MAX) return appends
  const range = { start: recordKey(stream, 0n), end: recordKey(stream, 2n ** 64n - 1n), limit: 1 }
  for (const { key, value } of tables.order.getRange(range)) {
    tables.appends.removeSync(namedKey(stream, value))
    tables.order.removeSync(key)
  }
  return appends - 1n
}

/** Appends encoded records, or finds that it was done; `undefined`: it would pass the limit. */
export const appendRecords = (
  tables: SpoolTables,
  options: {
    readonly stream: string
    readonly appendId: string
    readonly encoded: ReadonlyArray<Buffer>
    readonly bytesMax: bigint
  }
): AppendRange | undefined => {
  const { appendId, bytesMax, encoded, stream } = options
  const appendKey = namedKey(stream, Buffer.from(appendId, "utf8"))
  const known = readNumbers(tables, tables.appends, appendKey)
  if (known !== undefined) return { first: known[0] ?? 0n, last: known[1] ?? 0n }
  const state = readStream(tables, stream) ?? NEW_STREAM
  const bytes = encoded.reduce((sum, record) => sum + BigInt(record.length), 0n)
  const total = readTotal(tables) + bytes
  if (total > bytesMax) return undefined
  const first = state.last + 1n
  for (const [index, record] of encoded.entries()) {
    const key = recordKey(stream, first + BigInt(index))
    tables.records.putSync(key, sealValue(key, record))
  }
  const last = state.last + BigInt(encoded.length)
  writeNumbers(tables.appends, appendKey, [first, last])
  tables.order.putSync(recordKey(stream, first), Buffer.from(appendId, "utf8"))
  const appends = forgetOldestAppend(tables, stream, state.appends + 1n)
  writeStream(tables, stream, { ...state, last, bytes: state.bytes + bytes, appends })
  writeNumbers(tables.totals, TOTAL_KEY, [total])
  return { first, last }
}

/** Forgets at most `limit` records up to a position; answers whether more are to be forgotten. */
export const purgeRecords = (
  tables: SpoolTables,
  options: { readonly stream: string; readonly upTo: bigint; readonly limit: number }
): boolean => {
  const { limit, stream, upTo } = options
  const state = readStream(tables, stream)
  if (state === undefined) return false
  const end = upTo < state.last ? upTo : state.last
  if (end < state.first) return false
  let bytes = 0n
  let count = 0
  let reached = state.first - 1n
  const range = { start: recordKey(stream, state.first), end: recordKey(stream, end + 1n), limit }
  // All are read before the first is removed, as a removal moves what a range stands on.
  const found = Array.from(tables.records.getRange(range))
  for (const { key, value } of found) {
    bytes += BigInt(value.length - 4)
    count += 1
    reached = numberOfKey(key)
    tables.records.removeSync(key)
  }
  const isMore = count === limit
  const first = (isMore ? reached : end) + 1n
  writeStream(tables, stream, { ...state, first, bytes: state.bytes - bytes })
  writeNumbers(tables.totals, TOTAL_KEY, [readTotal(tables) - bytes])
  return isMore
}
