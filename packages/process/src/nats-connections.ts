/** The connections to NATS that a process's flags and environment name. */
import { NatsConnections, type NatsError } from "@holdfast/adapter-nats"
import { Effect, Layer, Option } from "effect"
import { type NatsAccess, natsOptionsOf } from "./cluster-flags.ts"
import { type CommandFailure, failure } from "./command-failure.ts"

/** Connects as the flags say; without servers it fails with what to do. */
export const natsConnections = (
  flags: NatsAccess & { readonly nats: Option.Option<string> },
  name: string
): Layer.Layer<NatsConnections, CommandFailure | NatsError> =>
  Option.match(flags.nats, {
    onNone: () =>
      Layer.effect(
        NatsConnections,
        Effect.fail(failure("name the NATS servers with --nats, such as nats://127.0.0.1:4222"))
      ),
    onSome: (servers) =>
      NatsConnections.layer(
        natsOptionsOf({ servers, name, access: flags, environment: process.env })
      )
  })
