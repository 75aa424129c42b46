/** The flags of commands that talk to a cluster over NATS, and what they say. */
import { Effect } from "effect"
import type { CommandFailure } from "../command-failure.ts"
import { resolveSettings } from "../configuration/resolve.ts"
import { flagsOf, type TypedSettings } from "../configuration/setting-flags.ts"
import type { NatsValues } from "./nats-options.ts"
import { natsSettings } from "./nats-settings.ts"

/** A flag for each setting of NATS. */
export const natsFlags = flagsOf(natsSettings)

/** What the flags and this process's environment say. */
export const natsValuesOf = (typed: TypedSettings): Effect.Effect<NatsValues, CommandFailure> =>
  Effect.map(
    resolveSettings({ table: natsSettings, typed, environment: process.env }),
    ({ values }) => values
  )
