/**
 * The RecordSource port on memory streams: each stream is one shard of the same name, read freely
 * or through a consumer with a watermark.
 */
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
  type StreamRefusal,
  wake
} from "./memory-streams.ts"
import type { WatermarkOptions } from "./watermark-consumer.ts"

/** How shards are read. */
export interface MemoryRecordSourceOptions {
  /** Which shards are read through their consumer, and how; asked at each `open`. Default: none. */
  readonly watermark?: (shard: string) => WatermarkOptions | undefined
}

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
    newest: newestOf(stream),
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

/** How many records a reader may be given now; fails when another reader has its consumer. */
type RoomOf = Effect.Effect<number, RecordSourceError>

interface Reading {
  readonly start: bigint
  readonly room: RoomOf
  readonly delivered: (position: bigint) => void
}

const openReader = (
  streams: MemoryStreams,
  stream: MemoryStream,
  { delivered, room, start }: Reading
): ShardReader => {
  let cursor = start
  const heard = Effect.andThen(streams.available, streams.heard)
  const take = (options: NextOptions): Effect.Effect<RecordBatch, RecordSourceError> =>
    Effect.map(room, (records) => {
      const maxRecords = Math.min(records, Math.max(1, options.maxRecords))
      if (maxRecords === 0) return nothingYet(stream)
      const { batch, at } = collect(stream, cursor, { ...options, maxRecords })
      cursor = at
      for (const { position } of batch.records) delivered(position)
      return batch
    })
  const isWorthReturning = (batch: RecordBatch): boolean =>
    batch.records.length > 0 || batch.gaps.length > 0 || batch.endOfShard
  return {
    next: Effect.fnUntraced(function* (options) {
      yield* Effect.mapError(streams.available, unavailable)
      const batch = yield* take(options)
      if (isWorthReturning(batch)) return batch
      yield* Effect.timeoutOption(nextChange(stream), options.wait)
      return yield* take(options)
    }),
    acknowledge: (upTo) =>
      Effect.map(Effect.mapError(heard, unavailable), () => {
        if (upTo > stream.acknowledged) stream.acknowledged = upTo
        stream.consumer.acknowledge(upTo)
        wake(stream)
      })
  }
}

const newestOf = ({ next }: MemoryStream): Option.Option<bigint> =>
  next === 1n ? Option.none() : Option.some(next - 1n)

const nothingYet = (stream: MemoryStream): RecordBatch => ({
  records: [],
  gaps: [],
  newest: newestOf(stream),
  endOfShard: false
})

/** Reads whatever there is. */
const freely = (start: bigint): Reading => ({
  start,
  room: Effect.succeed(Number.MAX_SAFE_INTEGER),
  delivered: () => undefined
})

/** Takes the stream's consumer over, and reads what it delivers. */
const throughConsumer = (
  stream: MemoryStream,
  start: bigint,
  { pendingMax }: WatermarkOptions
): Reading => {
  const { consumer } = stream
  const reader = Symbol(stream.name)
  consumer.takeOver(reader)
  wake(stream)
  const message = `another reader has taken the consumer of ${stream.name} over`
  return {
    start,
    room: Effect.suspend(() =>
      consumer.isHeldBy(reader)
        ? Effect.succeed(Math.max(0, pendingMax - consumer.pending))
        : Effect.fail(new RecordSourceError({ code: "unavailable", message }))
    ),
    delivered: (position) => consumer.delivered(position)
  }
}

const open = (
  streams: MemoryStreams,
  { watermark }: MemoryRecordSourceOptions
): RecordSource["Service"]["open"] =>
  Effect.fnUntraced(function* ({ shard, after }) {
    yield* Effect.mapError(streams.available, unavailable)
    const stream = streams.byName.get(shard)
    if (stream === undefined) {
      return yield* new RecordSourceError({ code: "not-found", message: `no shard ${shard}` })
    }
    const oldest = stream.records[0]?.position ?? stream.next
    const start = Option.getOrElse(after, () => oldest - 1n)
    const how = watermark?.(shard)
    const reading = how === undefined ? freely(start) : throughConsumer(stream, start, how)
    return openReader(streams, stream, reading)
  })

/** A RecordSource over streams that every reader shares. */
export const memoryRecordSource = (
  streams: MemoryStreams,
  options: MemoryRecordSourceOptions = {}
): Layer.Layer<RecordSource> =>
  Layer.succeed(RecordSource, {
    shards: Effect.map(Effect.mapError(streams.available, unavailable), () =>
      [...streams.byName.keys()].map((name) => ({ shard: name, stream: name }))
    ),
    open: open(streams, options)
  })
