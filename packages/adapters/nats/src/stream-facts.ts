/** What a reader must know of a stream before it reads it, and whether it can be read at all. */
import { RetentionPolicy, type StreamInfo } from "@nats-io/jetstream"
import { RecordSourceError } from "@holdfast/records"
import type { JetStreamFailure } from "./jetstream-call.ts"

/** A shard: a stream, or the messages of a stream under one subject. */
export interface NatsShard {
  /** The shard's name, at most 255 bytes, unique within the source. */
  readonly shard: string
  readonly stream: string
  /** A subject, with wildcards or without; absent for the whole stream. */
  readonly filterSubject?: string
  /**
   * The name of a durable consumer that is acknowledged up to what is archived; absent for one that
   * acknowledges by itself and is forgotten with its reader.
   */
  readonly consumer?: string
}

/** The bounds of a stream. */
export interface StreamFacts {
  /** The oldest position still held, or one past the newest when it holds none. */
  readonly first: bigint
  /** The newest position ever given out, 0 when none was. */
  readonly last: bigint
  /** When the stream was made, as the server tells it; another one means another stream. */
  readonly created: string
}

/** The bounds in a stream's description. */
export const factsOf = (info: StreamInfo): StreamFacts => {
  const last = BigInt(info.state.last_seq)
  const first = BigInt(info.state.first_seq)
  return {
    first: info.state.messages === 0 && first <= last ? last + 1n : first < 1n ? 1n : first,
    last,
    created: info.created
  }
}

/**
 * Why a stream cannot be read behind a position (0 for its start), or undefined when it can.
 * `created` is that of the stream as it was before, when it was seen before.
 */
export const readFault = (
  info: StreamInfo,
  after: bigint,
  created: string | undefined
): RecordSourceError | undefined => {
  const { name, retention } = info.config
  if (retention !== RetentionPolicy.Limits) {
    return new RecordSourceError({
      code: "unsupported",
      message:
        `the stream ${name} has the retention "${retention}", which deletes what was delivered; ` +
        'only "limits" streams can be read'
    })
  }
  const last = BigInt(info.state.last_seq)
  const isAnother = created !== undefined && created !== info.created
  if (after > last || isAnother) {
    return new RecordSourceError({
      code: "not-found",
      message:
        `the stream ${name} ends at ${last} and was read up to ${after}; it was made again or ` +
        "lost its end, so its positions name other records than before"
    })
  }
  return undefined
}

/** The port's error for a failed JetStream call about a stream. */
export const toRecordSourceError = (
  stream: string,
  failure: JetStreamFailure
): RecordSourceError => {
  const message = `the stream ${stream} cannot be read: ${failure.message}`
  switch (failure.kind) {
    case "no-message":
    case "not-found":
      return new RecordSourceError({ code: "not-found", message })
    case "denied":
      return new RecordSourceError({ code: "denied", message })
    case "unsupported":
    case "refused":
      return new RecordSourceError({ code: "unsupported", message })
    case "too-large":
      return new RecordSourceError({ code: "too-large", message })
    case "conflict":
    case "full":
    case "no-consumer":
    case "unavailable":
      return new RecordSourceError({ code: "unavailable", message })
  }
}
