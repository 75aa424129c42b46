/**
 * The NATS micro protocol, so that `nats micro list`, `info` and `stats` show a service.
 *
 *     $SRV.PING    $SRV.PING.<name>    $SRV.PING.<name>.<id>       and the same for INFO and STATS
 *
 * Every instance answers each of them, so a listener here is in no queue group.
 */
import { Messaging, type MessagingError } from "@holdfast/messaging"
import { DateTime, Effect, Schema, type Scope } from "effect"
import { messagingError } from "./message-error.ts"

/** What an endpoint is. */
export interface MicroEndpoint {
  readonly name: string
  readonly subject: string
  readonly queueGroup?: string
}

/** What an endpoint has done since the service started. */
export interface MicroStats {
  readonly name: string
  readonly requests: number
  readonly errors: number
  readonly lastError?: string
  readonly processingNanos: number
}

/** A service as the protocol shows it. */
export interface MicroServiceOptions {
  /** Letters, digits, `-` and `_`. */
  readonly name: string
  /** One instance of the service; letters, digits, `-` and `_`. */
  readonly id: string
  /** A semantic version. */
  readonly version: string
  readonly description?: string
  readonly metadata?: Readonly<Record<string, string>>
  readonly endpoints: ReadonlyArray<MicroEndpoint>
  /** Asked at each STATS; an endpoint without an entry has done nothing. */
  readonly stats: Effect.Effect<ReadonlyArray<MicroStats>>
}

const Identity = {
  name: Schema.String,
  id: Schema.String,
  version: Schema.String,
  metadata: Schema.Record(Schema.String, Schema.String)
}

/** The answer to PING. */
export const MicroPing = Schema.Struct({
  type: Schema.Literal("io.nats.micro.v1.ping_response"),
  ...Identity
})

/** The answer to INFO. */
export const MicroInfo = Schema.Struct({
  type: Schema.Literal("io.nats.micro.v1.info_response"),
  ...Identity,
  description: Schema.String,
  endpoints: Schema.Array(
    Schema.Struct({
      name: Schema.String,
      subject: Schema.String,
      queue_group: Schema.optionalKey(Schema.String),
      metadata: Schema.Record(Schema.String, Schema.String)
    })
  )
})

/** The answer to STATS; times in nanoseconds. */
export const MicroStatsAnswer = Schema.Struct({
  type: Schema.Literal("io.nats.micro.v1.stats_response"),
  ...Identity,
  started: Schema.String,
  endpoints: Schema.Array(
    Schema.Struct({
      name: Schema.String,
      subject: Schema.String,
      queue_group: Schema.optionalKey(Schema.String),
      num_requests: Schema.Natural,
      num_errors: Schema.Natural,
      last_error: Schema.String,
      processing_time: Schema.Natural,
      average_processing_time: Schema.Natural
    })
  )
})

const encodePing = Schema.encodeSync(Schema.fromJsonString(MicroPing))
const encodeInfo = Schema.encodeSync(Schema.fromJsonString(MicroInfo))
const encodeStats = Schema.encodeSync(Schema.fromJsonString(MicroStatsAnswer))
const listening = { concurrency: 4, backlog: 64 } as const

/** Answers the protocol until the scope closes. */
export const microService = Effect.fn("Nats.microService")(function* (
  options: MicroServiceOptions
): Effect.fn.Return<void, MessagingError, Messaging | Scope.Scope> {
  const messaging = yield* Messaging
  for (const [what, text] of [
    ["name", options.name],
    ["id", options.id]
  ] as const) {
    if (!/^[A-Za-z0-9_-]+$/.test(text)) {
      const message = `the ${what} "${text}" of a service may have letters, digits, "-" and "_"`
      return yield* messagingError("invalid", "$SRV", message)
    }
  }
  const started = DateTime.formatIso(yield* DateTime.now)
  const answers = {
    PING: Effect.sync(() => encodePing(pingOf(options))),
    INFO: Effect.sync(() => encodeInfo(infoOf(options))),
    STATS: Effect.map(options.stats, (stats) => encodeStats(statsOf(options, started, stats)))
  }
  for (const [verb, answer] of Object.entries(answers)) {
    const reply = Effect.map(answer, (json) => ({
      headers: {},
      data: new TextEncoder().encode(json)
    }))
    const own = [verb, `${verb}.${options.name}`, `${verb}.${options.name}.${options.id}`]
    for (const subject of own) {
      yield* messaging.serve({ subject: `$SRV.${subject}`, ...listening }, () => reply)
    }
  }
})

const identityOf = ({ name, id, version, metadata }: MicroServiceOptions) => ({
  name,
  id,
  version,
  metadata: metadata ?? {}
})

const pingOf = (options: MicroServiceOptions): typeof MicroPing.Type => ({
  type: "io.nats.micro.v1.ping_response",
  ...identityOf(options)
})

const endpointOf = ({ name, subject, queueGroup }: MicroEndpoint) => ({
  name,
  subject,
  ...(queueGroup === undefined ? {} : { queue_group: queueGroup })
})

const infoOf = (options: MicroServiceOptions): typeof MicroInfo.Type => ({
  type: "io.nats.micro.v1.info_response",
  ...identityOf(options),
  description: options.description ?? "",
  endpoints: options.endpoints.map((endpoint) => ({ ...endpointOf(endpoint), metadata: {} }))
})

const statsOf = (
  options: MicroServiceOptions,
  started: string,
  stats: ReadonlyArray<MicroStats>
): typeof MicroStatsAnswer.Type => ({
  type: "io.nats.micro.v1.stats_response",
  ...identityOf(options),
  started,
  endpoints: options.endpoints.map((endpoint) => {
    const found = stats.find(({ name }) => name === endpoint.name)
    const requests = found?.requests ?? 0
    const processing = found?.processingNanos ?? 0
    return {
      ...endpointOf(endpoint),
      num_requests: requests,
      num_errors: found?.errors ?? 0,
      last_error: found?.lastError ?? "",
      processing_time: processing,
      average_processing_time: requests === 0 ? 0 : Math.floor(processing / requests)
    }
  })
})
