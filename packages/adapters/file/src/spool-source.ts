/** The RecordSource that reads a spool: each stream is a shard of the same name. */
import { RecordSource, RecordSourceError } from "@holdfast/records"
import type { Gap, NextOptions, RecordBatch, ShardReader, SourceRecord } from "@holdfast/records"
import { Effect, Option } from "effect"
import { numberOfKey } from "./byte-keys.ts"
import { forgetUpTo, listStreams } from "./spool-streams.ts"
import type { OpenSpool } from "./spool-streams.ts"
import { decodeRecord, readStream, recordKey } from "./spool-tables.ts"
import { StoreRefused } from "./store-refused.ts"

/** Records of the largest batch. */
const BATCH_RECORDS_MAX = 10_000

const sourceError = ({ message }: StoreRefused): RecordSourceError =>
  new RecordSourceError({ code: "unavailable", message })

const bytesOf = ({ data, headers, subject }: SourceRecord): number =>
  headers.reduce(
    (sum, [name, value]) => sum + name.length + value.length,
    data.length + subject.length
  )

/** Where a reader stands: the last position it has told of; none before its first record. */
interface Reading {
  readonly stream: string
  last: bigint | undefined
}

interface Found {
  readonly batch: RecordBatch
  readonly last: bigint | undefined
  readonly damaged: ReadonlyArray<bigint>
}

/** What comes after a reader's position: records up to the bounds, and what is missing between. */
const lookAhead = (spool: OpenSpool, reading: Reading, options: NextOptions): Found => {
  const { records, gaps, damaged } = {
    records: new Array<SourceRecord>(),
    gaps: new Array<Gap>(),
    damaged: new Array<bigint>()
  }
  const { tables } = spool
  const state = readStream(tables, reading.stream)
  let last = reading.last
  let bytes = 0
  const tellGapBefore = (position: bigint): void => {
    if (last !== undefined && position > last + 1n)
      gaps.push({ from: last + 1n, to: position - 1n })
  }
  const start = recordKey(reading.stream, (last ?? 0n) + 1n)
  const end = recordKey(reading.stream, (state?.last ?? 0n) + 1n)
  const limit = Math.max(1, Math.min(BATCH_RECORDS_MAX, options.maxRecords))
  for (const { key, value } of tables.records.getRange({ start, end, limit })) {
    const record = decodeRecord(key, value)
    const position = numberOfKey(key)
    bytes += record === undefined ? 0 : bytesOf(record)
    if (records.length > 0 && bytes > options.maxBytes) break
    tellGapBefore(position)
    if (record === undefined) {
      damaged.push(position)
      gaps.push({ from: position, to: position })
    } else records.push(record)
    last = position
  }
  const isAllGone = records.length === 0 && damaged.length === 0 && state !== undefined
  if (isAllGone && last !== undefined && state.first > last + 1n) {
    tellGapBefore(state.first)
    last = state.first - 1n
  }
  const newest = Option.filter(Option.fromUndefinedOr(state?.last), (position) => position > 0n)
  return { batch: { records, gaps, newest, endOfShard: false }, last, damaged }
}

const isNothing = ({ gaps, records }: RecordBatch): boolean =>
  records.length === 0 && gaps.length === 0

const next = Effect.fnUntraced(function* (
  spool: OpenSpool,
  reading: Reading,
  options: NextOptions
): Effect.fn.Return<RecordBatch, StoreRefused> {
  const look = spool.environment.read(() => lookAhead(spool, reading, options))
  const waitForSome = Effect.gen(function* () {
    for (;;) {
      const woken = spool.wakeUp.next()
      const found = yield* look
      if (!isNothing(found.batch)) return found
      yield* woken
    }
  })
  const waited = yield* Effect.timeoutOption(waitForSome, options.wait)
  const found = Option.isSome(waited) ? waited.value : yield* look
  for (const position of found.damaged) {
    yield* Effect.logWarning(
      `Record ${position} of ${reading.stream} in the spool ${spool.environment.directory} has a wrong checksum; it is told as a gap.`
    )
  }
  reading.last = found.last
  return found.batch
})

const openReader = Effect.fnUntraced(function* (
  spool: OpenSpool,
  shard: string,
  after: Option.Option<bigint>
): Effect.fn.Return<ShardReader, RecordSourceError> {
  const read = spool.environment.read(() => readStream(spool.tables, shard))
  if ((yield* Effect.mapError(read, sourceError)) === undefined) {
    const message = `The spool in ${spool.environment.directory} has no stream "${shard}".`
    return yield* new RecordSourceError({ code: "not-found", message })
  }
  const reading: Reading = { stream: shard, last: Option.getOrUndefined(after) }
  return {
    next: (options) => Effect.mapError(next(spool, reading, options), sourceError),
    acknowledge: (upTo) =>
      spool.keepsAcknowledged
        ? Effect.void
        : Effect.mapError(forgetUpTo(spool, shard, upTo), sourceError)
  }
})

/** The source of a spool. */
export const makeSpoolSource = (spool: OpenSpool): RecordSource["Service"] => ({
  shards: Effect.map(Effect.mapError(listStreams(spool), sourceError), (streams) =>
    streams.map(({ stream }) => ({ shard: stream, stream }))
  ),
  open: ({ after, shard }) => openReader(spool, shard, after)
})
