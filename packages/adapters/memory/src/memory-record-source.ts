/** The RecordSource port on memory streams: each stream is one shard of the same name. */
import {
  type Gap,
  type NextOptions,
  type RecordBatch,
  RecordSource,
  RecordSourceError,
  type ShardReader,
  type SourceRecord
} from "@holdfast/records"
import { Effect, Layer, Option } from "effect"
import {
  indexAfter,
  type MemoryStream,
  type MemoryStreams,
  recordBytes,
  type StreamRefusal
} from "./memory-streams.ts"

const unavailable = ({ message }: StreamRefusal): RecordSourceError =>
  new RecordSourceError({ code: "unavailable", message })

/** What stands above a position now, within the bounds, and how far that goes. */
const collect = (stream: MemoryStream, after: bigint, options: NextOptions) => {
  const records: Array<SourceRecord> = []
  const gaps: Array<Gap> = []
  let at = after
  let bytes = 0
  let isFull = false
  for (let index = indexAfter(stream, after); index < stream.records.length; index += 1) {
    const record = stream.records[index]
    if (record === undefined) break
    bytes += recordBytes(record)
    isFull =
      records.length >= Math.max(1, options.maxRecords) ||
      (records.length > 0 && bytes > options.maxBytes)
    if (isFull) break
    if (record.position > at + 1n) gaps.push({ from: at + 1n, to: record.position - 1n })
    records.push(record)
    at = record.position
  }
  const last = stream.next - 1n
  if (!isFull && at < last) {
    gaps.push({ from: at + 1n, to: last })
    at = last
  }
  const batch: RecordBatch = {
    records,
    gaps,
    newest: last === 0n ? Option.none() : Option.some(last),
    endOfShard: stream.isEnded && at === last
  }
  return { batch, at }
}

const nextChange = (stream: MemoryStream): Effect.Effect<void> =>
  Effect.callback<void>((resume) => {
    const waiter = (): void => {
      stream.waiters.delete(waiter)
      resume(Effect.void)
    }
    stream.waiters.add(waiter)
    return Effect.sync(() => stream.waiters.delete(waiter))
  })

const openReader = (streams: MemoryStreams, stream: MemoryStream, start: bigint): ShardReader => {
  let cursor = start
  const take = (options: NextOptions): RecordBatch => {
    const { batch, at } = collect(stream, cursor, options)
    cursor = at
    return batch
  }
  const isWorthReturning = (batch: RecordBatch): boolean =>
    batch.records.length > 0 || batch.gaps.length > 0 || batch.endOfShard
  return {
    next: Effect.fnUntraced(function* (options) {
      yield* Effect.mapError(streams.available, unavailable)
      const batch = take(options)
      if (isWorthReturning(batch)) return batch
      yield* Effect.timeoutOption(nextChange(stream), options.wait)
      return take(options)
    }),
    acknowledge: (upTo) =>
      Effect.map(Effect.mapError(streams.available, unavailable), () => {
        if (upTo > stream.acknowledged) stream.acknowledged = upTo
      })
  }
}

const open = (streams: MemoryStreams): RecordSource["Service"]["open"] =>
  Effect.fnUntraced(function* ({ shard, after }) {
    yield* Effect.mapError(streams.available, unavailable)
    const stream = streams.byName.get(shard)
    if (stream === undefined) {
      return yield* new RecordSourceError({ code: "not-found", message: `no shard ${shard}` })
    }
    const oldest = stream.records[0]?.position ?? stream.next
    return openReader(
      streams,
      stream,
      Option.getOrElse(after, () => oldest - 1n)
    )
  })

/** A RecordSource over streams that every reader shares. */
export const memoryRecordSource = (streams: MemoryStreams): Layer.Layer<RecordSource> =>
  Layer.succeed(RecordSource, {
    shards: Effect.map(Effect.mapError(streams.available, unavailable), () =>
      [...streams.byName.keys()].map((name) => ({ shard: name, stream: name }))
    ),
    open: open(streams)
  })
