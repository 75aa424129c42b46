/** The connections to NATS that a process's settings name. */
import { NatsConnections, type NatsError } from "@holdfast/adapter-nats"
import { Effect, Layer } from "effect"
import type { CommandFailure } from "../command-failure.ts"
import { natsOptionsOf, type NatsValues } from "./nats-options.ts"

/** Connects as the settings say; without servers it fails with what to do. */
export const natsConnections = (
  values: NatsValues,
  name: string
): Layer.Layer<NatsConnections, CommandFailure | NatsError> =>
  Layer.unwrap(Effect.map(natsOptionsOf(values, name), NatsConnections.layer))
