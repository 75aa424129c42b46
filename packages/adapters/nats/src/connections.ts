/** The two connections of a process, so that bulk records never delay a heartbeat. */
import { Context, Effect, Layer } from "effect"
import { type ManagedConnection, openConnection } from "./managed-connection.ts"
import type { NatsError } from "./nats-error.ts"
import type { NatsOptions } from "./nats-options.ts"

/** `control` carries requests, leases and checkpoints; `bulk` carries records. */
export class NatsConnections extends Context.Service<
  NatsConnections,
  { readonly control: ManagedConnection; readonly bulk: ManagedConnection }
>()("@holdfast/adapter-nats/NatsConnections") {
  /** Opens both; fails with a typed error when the first connection cannot be made. */
  static readonly layer = (options: NatsOptions): Layer.Layer<NatsConnections, NatsError> =>
    Layer.effect(
      this,
      Effect.all(
        {
          control: openConnection(options, `${options.name}-control`),
          bulk: openConnection(options, `${options.name}-bulk`)
        },
        { concurrency: "unbounded" }
      )
    )
}
