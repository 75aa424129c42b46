/**
 * Streams of records that a RecordSpool fills and a RecordSource reads; they outlive both.
 *
 * 1. Positions of a stream are dense, start at 1 and are never used twice, whatever was purged.
 * 2. Removed records leave gaps that readers are told of.
 * 3. A refused append adds nothing; one whose answer was lost has happened.
 */
import type { NewRecord, SourceRecord } from "@holdfast/records"
import { Data, Effect, Schema } from "effect"
import { lowerBound } from "./byte-order.ts"
import { WatermarkConsumer } from "./watermark-consumer.ts"

/**
 * A change of the streams. `Unavailable`: so many next operations fail and change nothing.
 * `LoseAnswers`: so many next appends happen, and fail as far as the caller can tell.
 * `LoseAcknowledgements`: so many next acknowledgements fail and are not heard.
 * `DelayMillis`: how long each operation takes. `Capacity`: all bytes that fit. `Remove`: one
 * record is deleted. `End`: no record will follow in a stream.
 */
export const StreamFault = Schema.TaggedUnion({
  Unavailable: { count: Schema.Natural },
  LoseAnswers: { count: Schema.Natural },
  LoseAcknowledgements: { count: Schema.Natural },
  DelayMillis: { millis: Schema.Natural },
  Capacity: { bytes: Schema.Natural },
  Remove: { stream: Schema.String, position: Schema.BigInt },
  End: { stream: Schema.String }
})
/** A change of the streams. */
export type StreamFault = typeof StreamFault.Type

/** Why the streams refused. */
export class StreamRefusal extends Data.TaggedError("StreamRefusal")<{
  readonly code: "unavailable" | "full"
  readonly message: string
}> {}

/** One stream's state; only this module and the ports on it change it. */
export interface MemoryStream {
  readonly name: string
  /** In position order, with holes where records were removed. */
  records: Array<SourceRecord>
  next: bigint
  bytes: number
  isEnded: boolean
  acknowledged: bigint
  /** What a source with watermarks reads through. */
  readonly consumer: WatermarkConsumer
  readonly appendIds: Map<string, { readonly first: bigint; readonly last: bigint }>
  /** Readers that wait for the next change. */
  readonly waiters: Set<() => void>
}

/** Streams that services share. */
export interface MemoryStreams {
  readonly apply: (fault: StreamFault) => Effect.Effect<void>
  /** Adds records to a stream, made when there is none. */
  readonly put: (
    stream: string,
    records: ReadonlyArray<NewRecord>
  ) => Effect.Effect<{ readonly first: bigint; readonly last: bigint }, StreamRefusal>
  /** Forgets everything up to a position. */
  readonly purge: (stream: string, upTo: bigint) => Effect.Effect<void>
  /** The highest position that a reader acknowledged, 0 when none was. */
  readonly acknowledged: (stream: string) => Effect.Effect<bigint>
  /** The streams by name, for the ports. */
  readonly byName: ReadonlyMap<string, MemoryStream>
  /** Fails where an operation would fail; waits as long as one takes. */
  readonly available: Effect.Effect<void, StreamRefusal>
  /** Fails where the answer to an append would be lost. */
  readonly answered: Effect.Effect<void, StreamRefusal>
  /** Fails where an acknowledgement would not be heard. */
  readonly heard: Effect.Effect<void, StreamRefusal>
}

interface StreamsState {
  readonly streams: Map<string, MemoryStream>
  unavailable: number
  lostAnswers: number
  lostAcknowledgements: number
  delayMillis: number
  capacity: number
}

/** The bytes of a record as limits count them. */
export const recordBytes = (record: NewRecord): number =>
  record.headers.reduce(
    (sum, [name, value]) => sum + name.length + value.length,
    record.subject.length + record.data.length
  )

const streamOf = (state: StreamsState, name: string): MemoryStream => {
  const known = state.streams.get(name)
  if (known !== undefined) return known
  const stream: MemoryStream = {
    name,
    records: [],
    next: 1n,
    bytes: 0,
    isEnded: false,
    acknowledged: 0n,
    consumer: new WatermarkConsumer(),
    appendIds: new Map(),
    waiters: new Set()
  }
  state.streams.set(name, stream)
  return stream
}

/** Lets every reader that waits look again. */
export const wake = (stream: MemoryStream): void => {
  for (const waiter of stream.waiters) waiter()
}

const put = (state: StreamsState, name: string, records: ReadonlyArray<NewRecord>) => {
  const bytes = records.reduce((sum, record) => sum + recordBytes(record), 0)
  const held = [...state.streams.values()].reduce((sum, stream) => sum + stream.bytes, 0)
  if (held + bytes > state.capacity) {
    const message = `no room for ${bytes} bytes in ${state.capacity}`
    return Effect.fail(new StreamRefusal({ code: "full", message }))
  }
  const stream = streamOf(state, name)
  const first = stream.next
  for (const record of records) {
    stream.records.push({
      position: stream.next,
      timestamp: record.timestamp,
      subject: record.subject.slice(),
      headers: record.headers.map(([header, value]) => [header.slice(), value.slice()] as const),
      data: record.data.slice()
    })
    stream.next += 1n
  }
  stream.bytes += bytes
  wake(stream)
  return Effect.succeed({ first, last: stream.next - 1n })
}

const keepWhere = (stream: MemoryStream, keep: (record: SourceRecord) => boolean): void => {
  stream.records = stream.records.filter(keep)
  stream.bytes = stream.records.reduce((sum, record) => sum + recordBytes(record), 0)
  wake(stream)
}

const applyFault = (state: StreamsState, fault: StreamFault): void => {
  switch (fault._tag) {
    case "Unavailable":
      state.unavailable = fault.count
      return
    case "LoseAnswers":
      state.lostAnswers = fault.count
      return
    case "LoseAcknowledgements":
      state.lostAcknowledgements = fault.count
      return
    case "DelayMillis":
      state.delayMillis = fault.millis
      return
    case "Capacity":
      state.capacity = fault.bytes
      return
    case "Remove":
      return keepWhere(streamOf(state, fault.stream), ({ position }) => position !== fault.position)
    case "End": {
      const stream = streamOf(state, fault.stream)
      stream.isEnded = true
      return wake(stream)
    }
  }
}

/** The index of a stream's first record above a position; O(log n). */
export const indexAfter = (stream: MemoryStream, position: bigint): number =>
  lowerBound(stream.records, (record) => record.position <= position)

const make = (): MemoryStreams => {
  const state: StreamsState = {
    streams: new Map(),
    unavailable: 0,
    lostAnswers: 0,
    lostAcknowledgements: 0,
    delayMillis: 0,
    capacity: Number.MAX_SAFE_INTEGER
  }
  const unavailable = (message: string) =>
    Effect.fail(new StreamRefusal({ code: "unavailable", message }))
  return {
    apply: (fault) => Effect.sync(() => applyFault(state, fault)),
    put: (stream, records) => Effect.suspend(() => put(state, stream, records)),
    purge: (stream, upTo) =>
      Effect.sync(() => keepWhere(streamOf(state, stream), ({ position }) => position > upTo)),
    acknowledged: (stream) => Effect.sync(() => streamOf(state, stream).acknowledged),
    byName: state.streams,
    available: Effect.gen(function* () {
      yield* state.delayMillis > 0 ? Effect.sleep(state.delayMillis) : Effect.yieldNow
      if (state.unavailable === 0) return
      state.unavailable -= 1
      yield* unavailable("the stream did not answer")
    }),
    answered: Effect.suspend(() => {
      if (state.lostAnswers === 0) return Effect.void
      state.lostAnswers -= 1
      return unavailable("the answer was lost")
    }),
    heard: Effect.suspend(() => {
      if (state.lostAcknowledgements === 0) return Effect.void
      state.lostAcknowledgements -= 1
      return unavailable("the acknowledgement was lost")
    })
  }
}

/** Makes streams. */
export const MemoryStreams = {
  /** No stream and no fault. */
  make
}
