/** The RecordSpool port on memory streams. */
import { RecordSpool, RecordSpoolError } from "@holdfast/records"
import { Effect, Layer } from "effect"
import type { MemoryStreams, StreamRefusal } from "./memory-streams.ts"

const appendIdBytesMax = 64
const appendIdsMax = 1_024
const streamNameBytesMax = 255
const encoder = new TextEncoder()

const refused = ({ code, message }: StreamRefusal): RecordSpoolError =>
  new RecordSpoolError({ code, message })

const invalid = (message: string): RecordSpoolError =>
  new RecordSpoolError({ code: "invalid", message })

const isWithin = (text: string, bytesMax: number): boolean =>
  text.length > 0 && encoder.encode(text).length <= bytesMax

const append = (streams: MemoryStreams): RecordSpool["Service"]["append"] =>
  Effect.fnUntraced(function* ({ stream, appendId, records }) {
    if (!isWithin(stream, streamNameBytesMax)) {
      return yield* invalid(`a stream's name is 1 to ${streamNameBytesMax} bytes long`)
    }
    if (!isWithin(appendId, appendIdBytesMax)) {
      return yield* invalid(`an append's id is 1 to ${appendIdBytesMax} bytes long`)
    }
    if (records.length === 0) return yield* invalid("an append has at least one record")
    yield* Effect.mapError(streams.available, refused)
    const earlier = streams.byName.get(stream)?.appendIds.get(appendId)
    if (earlier !== undefined) return earlier
    const positions = yield* Effect.mapError(streams.put(stream, records), refused)
    const appendIds = streams.byName.get(stream)?.appendIds
    appendIds?.set(appendId, positions)
    for (const oldest of appendIds?.keys() ?? []) {
      if (appendIds === undefined || appendIds.size <= appendIdsMax) break
      appendIds.delete(oldest)
    }
    yield* Effect.mapError(streams.answered, refused)
    return positions
  })

/** A RecordSpool over streams that a source reads. */
export const memoryRecordSpool = (streams: MemoryStreams): Layer.Layer<RecordSpool> =>
  Layer.succeed(RecordSpool, {
    append: append(streams),
    status: Effect.map(Effect.mapError(streams.available, refused), () =>
      [...streams.byName.values()].map((stream) => ({
        stream: stream.name,
        first: stream.records[0]?.position ?? stream.next,
        last: stream.next - 1n,
        bytes: stream.bytes
      }))
    ),
    purge: Effect.fnUntraced(function* ({ stream, upTo }) {
      yield* Effect.mapError(streams.available, refused)
      if (!streams.byName.has(stream)) {
        return yield* new RecordSpoolError({ code: "not-found", message: `no stream ${stream}` })
      }
      yield* streams.purge(stream, upTo)
    })
  })
