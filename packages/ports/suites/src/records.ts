/** What the contracts of record sources and spools share. */
import {
  type Gap,
  type NewRecord,
  RecordSource,
  type ShardReader,
  type SourceRecord
} from "@holdfast/records"
import { Context, Effect, Layer, Option } from "effect"
import type { KeptField, SourceStorage } from "./record-source-contract.ts"

const encoder = new TextEncoder()
const decoder = new TextDecoder()

/** Text as bytes. */
export const textOf = (value: string): Uint8Array => encoder.encode(value)

/** Records whose data says their number. */
export const numbered = (from: number, count: number): ReadonlyArray<NewRecord> =>
  Array.from({ length: count }, (_, index) => ({
    timestamp: BigInt(from + index) * 1_000_000n,
    subject: textOf(`subject.${from + index}`),
    headers: [],
    data: textOf(`record ${from + index}`)
  }))

/** A record as text, with the fields that are compared. */
export const showRecords = (record: NewRecord, kept: ReadonlyArray<KeptField>): string => {
  const shown = {
    timestamp: String(record.timestamp),
    subject: decoder.decode(record.subject),
    headers: record.headers.map(([name, value]) => decoder.decode(name) + decoder.decode(value))
  }
  const fields = kept.map((field) => `${field} ${JSON.stringify(shown[field])}`)
  return [...fields, `data ${Array.from(record.data).join()}`].join(", ")
}

/** Opens a shard on a connection of its own, until the scope closes. */
export const openShard = Effect.fnUntraced(function* (
  storage: SourceStorage,
  after: Option.Option<bigint>
) {
  const context = yield* Layer.build(Layer.fresh(storage.layer))
  return yield* Context.get(context, RecordSource).open({ shard: storage.shard, after })
})

/** Reads until so many records were returned, or a minute of empty answers has passed. */
export const readUntil = Effect.fnUntraced(function* (reader: ShardReader, count: number) {
  const records: Array<SourceRecord> = []
  const gaps: Array<Gap> = []
  for (let empty = 0; records.length < count && empty < 30;) {
    const batch = yield* reader.next({ maxRecords: 7, maxBytes: 65_536, wait: "2 seconds" })
    records.push(...batch.records)
    gaps.push(...batch.gaps)
    empty = batch.records.length === 0 ? empty + 1 : 0
    if (batch.endOfShard) break
  }
  return { records, gaps }
})

/** Opens a shard and reads so many records. */
export const readAll = (storage: SourceStorage, after: Option.Option<bigint>, count: number) =>
  Effect.flatMap(openShard(storage, after), (reader) => readUntil(reader, count))
