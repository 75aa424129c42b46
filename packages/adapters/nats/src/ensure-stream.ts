/** Makes a stream when there is none, and says so when the server made another than was asked. */
import {
  DiscardPolicy,
  type JetStreamManager,
  RetentionPolicy,
  StorageType,
  type StreamConfig
} from "@nats-io/jetstream"
import { Duration, Effect } from "effect"
import { callJetStream, type JetStreamFailure } from "./jetstream-call.ts"
import type { ManagedConnection } from "./managed-connection.ts"
import { NatsError } from "./nats-error.ts"
import { openManager } from "./open-manager.ts"

/** A stream as it should be when it has to be made. */
export interface StreamOptions {
  readonly stream: string
  readonly subjects: ReadonlyArray<string>
  readonly storage?: "file" | "memory"
  readonly replicas?: number
  /** Bytes that the stream may hold; unlimited by default. */
  readonly maxBytes?: number
  /** How long the server remembers message ids. Default 2 minutes. */
  readonly duplicateWindow?: Duration.Input
  /** The JetStream domain, where leaf nodes have several. */
  readonly domain?: string
}

/** Makes the stream if it is missing; answers whether it was made now. */
export const ensureStream = (
  connection: ManagedConnection,
  options: StreamOptions
): Effect.Effect<boolean, NatsError> =>
  Effect.flatMap(openManager(connection, options.domain), (manager) =>
    ensureConfigured(connection, manager, configOf(options))
  )

const configOf = (options: StreamOptions): WantedConfig => ({
  name: options.stream,
  subjects: [...options.subjects],
  retention: RetentionPolicy.Limits,
  discard: DiscardPolicy.Old,
  storage: options.storage === "memory" ? StorageType.Memory : StorageType.File,
  num_replicas: options.replicas ?? 1,
  max_bytes: options.maxBytes ?? -1,
  duplicate_window: Number(
    Duration.toNanosUnsafe(Duration.fromInputUnsafe(options.duplicateWindow ?? "2 minutes"))
  )
})

/** A configuration whose every given field is compared with the server's answer. */
export type WantedConfig = Partial<StreamConfig> & { readonly name: string }

/**
 * Makes a stream if it is missing. A new one must be just as asked; of one that exists `required`
 * fields must be, because the caller relies on them.
 */
export const ensureConfigured = (
  connection: ManagedConnection,
  manager: JetStreamManager,
  wanted: WantedConfig,
  required: ReadonlyArray<keyof StreamConfig> = []
): Effect.Effect<boolean, NatsError> => {
  const info = callJetStream(connection, () => manager.streams.info(wanted.name))
  const add = callJetStream(connection, () => manager.streams.add({ ...wanted }))
  const check = (config: StreamConfig, fields: ReadonlyArray<keyof StreamConfig>) =>
    compareConfig(wanted, config, fields)
  return info.pipe(
    Effect.matchEffect({
      onSuccess: ({ config }) => Effect.as(check(config, required), false),
      onFailure: (failure) => {
        if (failure.kind !== "not-found") return Effect.fail(toNatsError(wanted.name, failure))
        return add.pipe(
          Effect.mapError((refused) => toNatsError(wanted.name, refused)),
          Effect.flatMap(({ config }) => check(config, fieldsOf(wanted))),
          Effect.as(true)
        )
      }
    })
  )
}

const fieldsOf = (wanted: WantedConfig): ReadonlyArray<keyof StreamConfig> => {
  const isField = (name: string): name is keyof StreamConfig => Object.hasOwn(wanted, name)
  return Object.keys(wanted).filter(isField)
}

const compareConfig = (
  wanted: WantedConfig,
  actual: StreamConfig,
  fields: ReadonlyArray<keyof StreamConfig>
): Effect.Effect<void, NatsError> => {
  const differing = fields.filter((field) => !isSame(wanted[field], actual[field]))
  if (differing.length === 0) return Effect.void
  const details = differing.map(
    (field) =>
      `${field} is ${JSON.stringify(actual[field])} and should be ${JSON.stringify(wanted[field])}`
  )
  return Effect.fail(
    new NatsError({
      code: "mismatch",
      message: `the stream ${wanted.name} is not as it is needed: ${details.join("; ")}`
    })
  )
}

/** A server leaves out fields that are false or empty. */
const isSame = (wanted: unknown, actual: unknown): boolean =>
  JSON.stringify(wanted) === JSON.stringify(actual) || (wanted === false && actual === undefined)

/** The error of this package for a failed call about a stream. */
export const toNatsError = (stream: string, failure: JetStreamFailure): NatsError => {
  const message = `the stream ${stream} cannot be set up: ${failure.message}`
  switch (failure.kind) {
    case "denied":
      return new NatsError({ code: "denied", message })
    case "unsupported":
      return new NatsError({ code: "unsupported", message })
    case "refused":
    case "too-large":
    case "conflict":
      return new NatsError({ code: "invalid", message })
    case "full":
    case "no-consumer":
    case "no-message":
    case "not-found":
    case "unavailable":
      return new NatsError({ code: "unavailable", message })
  }
}
