/**
 * The RecordSpool port on LMDB, and the RecordSource that reads it: an embedded durable stream.
 *
 *     append ──▶ group commit ──sync──▶ positions ──▶ whoever waits in `next` is woken
 *
 * 1. The state of a stream, its records and its append ids change in one transaction.
 * 2. A record whose checksum is wrong is told as a gap of one position, and logged; the others
 *    come.
 * 3. What is acknowledged is forgotten, unless `keepsAcknowledged`.
 */
import { RecordSource, RecordSpool, RecordSpoolError } from "@holdfast/records"
import type { NewRecord } from "@holdfast/records"
import { Context, Effect, Layer } from "effect"
import { openEnvironment } from "./environment.ts"
import type { StoreOptions } from "./environment.ts"
import { makeSpoolSource } from "./spool-source.ts"
import { forgetUpTo, listStreams } from "./spool-streams.ts"
import type { OpenSpool } from "./spool-streams.ts"
import { appendRecords, encodeRecord, readStream, spoolTables } from "./spool-tables.ts"
import { makeWakeUp } from "./wake-up.ts"
import type { StoreRefused } from "./store-refused.ts"

/** Bytes of all records if nothing else is said: 64 GiB. */
const SPOOL_BYTES_MAX = 68_719_476_736
/** Bytes of the largest record, subject and headers included. */
const RECORD_BYTES_MAX = 16_777_216
/** Bytes and records of the largest append. */
const APPEND_BYTES_MAX = 67_108_864
const APPEND_RECORDS_MAX = 100_000
const STREAM_BYTES_MAX = 255
const APPEND_ID_BYTES_MAX = 64
const ITEM_BYTES = 128

/** Where a spool is and how much it may hold. */
export interface FileSpoolOptions extends StoreOptions {
  /** Bytes of all records; 64 GiB if absent. */
  readonly bytesMax?: number
  /** Keep records that a reader acknowledged; otherwise they make room. */
  readonly keepsAcknowledged?: boolean
}

const spoolError = ({ code, message }: StoreRefused): RecordSpoolError =>
  new RecordSpoolError({ code: code === "full" ? "full" : "unavailable", message })

const invalid = (message: string) => new RecordSpoolError({ code: "invalid", message })

const isFit = (text: string, bytesMax: number): boolean =>
  text.length > 0 && !text.includes("\0") && Buffer.byteLength(text) <= bytesMax

/** Why an append cannot be stored, if it cannot. */
const refusalOfAppend = (options: {
  readonly stream: string
  readonly appendId: string
  readonly records: ReadonlyArray<NewRecord>
}): RecordSpoolError | undefined => {
  if (!isFit(options.stream, STREAM_BYTES_MAX)) {
    return invalid(`A stream's name has 1 to ${STREAM_BYTES_MAX} bytes and no zero byte.`)
  }
  if (!isFit(options.appendId, APPEND_ID_BYTES_MAX)) {
    return invalid(`An append's id has 1 to ${APPEND_ID_BYTES_MAX} bytes and no zero byte.`)
  }
  const count = options.records.length
  return count >= 1 && count <= APPEND_RECORDS_MAX
    ? undefined
    : invalid(`An append of ${count} records is not possible; 1 to ${APPEND_RECORDS_MAX} are.`)
}

const append = (spool: OpenSpool): RecordSpool["Service"]["append"] =>
  Effect.fnUntraced(function* ({ appendId, records, stream }) {
    const refusal = refusalOfAppend({ appendId, records, stream })
    if (refusal !== undefined) return yield* refusal
    const encoded = records.map(encodeRecord)
    const bytes = encoded.reduce((sum, record) => sum + record.length + ITEM_BYTES, 0)
    if (bytes > APPEND_BYTES_MAX || encoded.some(({ length }) => length > RECORD_BYTES_MAX)) {
      return yield* invalid(
        `An append has at most ${APPEND_BYTES_MAX} bytes, a record ${RECORD_BYTES_MAX}.`
      )
    }
    const { bytesMax, environment, tables } = spool
    const run = () => appendRecords(tables, { stream, appendId, encoded, bytesMax })
    const range = yield* Effect.mapError(environment.commit({ bytes, run }), spoolError)
    if (range === undefined) {
      const message = `The spool in ${environment.directory} holds ${bytesMax} bytes at most; purge some records, or let the archive catch up.`
      return yield* new RecordSpoolError({ code: "full", message })
    }
    spool.wakeUp.wake()
    return range
  }, Effect.uninterruptible)

const purge = (spool: OpenSpool): RecordSpool["Service"]["purge"] =>
  Effect.fnUntraced(function* ({ stream, upTo }) {
    const { environment, tables } = spool
    const read = environment.read(() => readStream(tables, stream))
    if ((yield* Effect.mapError(read, spoolError)) === undefined) {
      const message = `There is no stream "${stream}"; the first append makes one.`
      return yield* new RecordSpoolError({ code: "not-found", message })
    }
    yield* Effect.mapError(forgetUpTo(spool, stream, upTo), spoolError)
  })

const status = (spool: OpenSpool): RecordSpool["Service"]["status"] =>
  Effect.mapError(listStreams(spool), spoolError)

/** A spool in a directory, held by this process until the scope closes, and its source. */
export const fileSpool = (
  options: FileSpoolOptions
): Layer.Layer<RecordSpool | RecordSource, RecordSpoolError> =>
  Layer.effectContext(
    Effect.gen(function* () {
      const environment = yield* openEnvironment({ ...options, kind: "spool" })
      const tables = yield* environment.read(() => spoolTables(environment))
      const spool: OpenSpool = {
        environment,
        tables,
        bytesMax: BigInt(options.bytesMax ?? SPOOL_BYTES_MAX),
        keepsAcknowledged: options.keepsAcknowledged ?? false,
        wakeUp: makeWakeUp()
      }
      return Context.make(RecordSpool, {
        append: append(spool),
        purge: purge(spool),
        status: status(spool)
      }).pipe(Context.add(RecordSource, makeSpoolSource(spool)))
    }).pipe(Effect.mapError(spoolError))
  )
