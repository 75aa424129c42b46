/**
 * The consumer that a reader has on the server, as its sessions see it. There are two kinds:
 *
 *     forgotten   acknowledges by itself, lives in memory, is gone a minute after its reader
 *     durable     acknowledged up to what is archived, so that its floor shows how far that is
 */
import type { ConsumerConfig, ConsumerInfo } from "@nats-io/jetstream"
import { RecordSourceError } from "@holdfast/records"
import { Data, Effect, type Scope } from "effect"
import type { DeliveryInfo } from "./delivery-info.ts"

/** Another reader has the consumer now: this one ends, and its caller may open the shard anew. */
export class ReaderSuperseded extends Data.TaggedError("ReaderSuperseded")<{
  readonly message: string
}> {}

/** A reader's consumer; the same one for all sessions of the reader. */
export interface ReaderConsumer {
  /** Makes the consumer, to deliver what follows the position; called once a session. */
  readonly acquire: (
    after: bigint
  ) => Effect.Effect<ConsumerInfo, ReaderSuperseded | RecordSourceError, Scope.Scope>
  /** Takes note of a delivery of the current session, whether its record is new or not. */
  readonly delivered: (info: DeliveryInfo, reply: Uint8Array) => void
  /** Tells the server that everything up to the position is finished. */
  readonly acknowledge: (upTo: bigint) => Effect.Effect<void, RecordSourceError>
  /** What must be done while a session runs; ended with it. */
  readonly attend: Effect.Effect<void>
}

/** What is asked of a new consumer, and how much of it there is no doing without. */
export interface WantedConsumer {
  readonly stream: string
  readonly config: Partial<ConsumerConfig>
  /** Without these it is of no use. */
  readonly required: ReadonlyArray<keyof ConsumerConfig>
  /** Without these it works, and something is to be said. */
  readonly wished: ReadonlyArray<{
    readonly field: keyof ConsumerConfig
    readonly consequence: string
  }>
}

/**
 * A server leaves out what it does not know without a word, so its answer is compared: what cannot
 * be done without is a failure, anything else is said aloud.
 */
export const checkEcho = Effect.fnUntraced(function* (
  echoed: Partial<ConsumerConfig>,
  { config, required, stream, wished }: WantedConsumer
): Effect.fn.Return<void, RecordSourceError> {
  const isEchoed = (field: keyof ConsumerConfig): boolean =>
    (echoed[field] ?? "") === (config[field] ?? "")
  const missing = required.filter((field) => !isEchoed(field))
  if (missing.length > 0) {
    return yield* new RecordSourceError({
      code: "unsupported",
      message:
        `the server made another consumer of ${stream} than was asked for: it does not heed ` +
        missing.join(", ")
    })
  }
  for (const { consequence, field } of wished) {
    if (isEchoed(field)) continue
    yield* Effect.logWarning(`the server does not heed ${field} of ${stream}: ${consequence}`)
  }
})
