/**
 * A service as a command: its settings from flags, environment and file, `--check`, its log, its
 * endpoint for those who watch it, and its life until it is stopped.
 *
 *     resolve settings ─▶ prepare (nothing is started) ─▶ --check prints and ends
 *                                     └─▶ /health, /metrics, /ready ─▶ start ─▶ ready ─▶ serve
 */
import { Effect, Layer, Option, type Scope } from "effect"
import { Command, Flag, GlobalFlag } from "effect/cli"
import type { CommandFailure } from "./command-failure.ts"
import { resolveSettings } from "./configuration/resolve.ts"
import type { Environment } from "./configuration/said-value.ts"
import type { SettingTable, SettingValues } from "./configuration/setting.ts"
import { flagsOf } from "./configuration/setting-flags.ts"
import { showConfiguration } from "./configuration/show-configuration.ts"
import { loggingLayer } from "./observability/logging.ts"
import { logLevelSetting, observabilitySettings } from "./observability/observability-settings.ts"
import { type OtlpHeaders, otlpHeadersOf } from "./observability/otlp-headers.ts"
import { measureProcess } from "./observability/process-metrics.ts"
import { makeReadiness, type Observations } from "./observability/readiness.ts"
import { sayReady } from "./ready.ts"

/** A service that is ready to be started. */
export interface PreparedService<E> {
  /** Its name and instance, such as `peer p1`. */
  readonly label: string
  /** Starts it; it lives until the scope closes. */
  readonly start: Effect.Effect<StartedService<E>, E, Scope.Scope>
}

/** A service that runs. */
export interface StartedService<E> {
  readonly observations: Observations
  /** What it does until it ends; absent, it says that it is ready, and serves. */
  readonly serve?: Effect.Effect<void, E>
}

type ObservabilityValues = SettingValues<typeof observabilitySettings & typeof logLevelSetting>

/** Makes the command of a service. */
export const serviceCommand = <const Name extends string, Table extends SettingTable, E>(options: {
  readonly name: Name
  readonly description: string
  readonly settings: Table
  /** Checks what the settings name and makes the service, without starting anything. */
  readonly prepare: (
    values: SettingValues<Table>
  ) => Effect.Effect<PreparedService<E>, E | CommandFailure>
}) => {
  const { description, name, prepare, settings } = options
  const table = { ...settings, ...observabilitySettings, ...logLevelSetting }
  // The level's flag is the command line's own.
  const flags = flagsOf({ ...settings, ...observabilitySettings })
  const common = {
    config: Flag.String("config").pipe(
      Flag.withDescription("A JSON file of settings, named as the flags [HOLDFAST_CONFIG]"),
      Flag.optional
    ),
    check: Flag.Boolean("check").pipe(
      Flag.withDescription("Check everything, print the effective configuration and exit"),
      Flag.withDefault(false)
    )
  }
  return Command.make(name, { typed: flags, ...common }, ({ check, config, typed }) =>
    Effect.gen(function* () {
      const environment: Environment = process.env
      const level = Option.map(yield* GlobalFlag.LogLevel, (one) => one.toLowerCase())
      const resolved = yield* resolveSettings({
        table,
        typed: { ...typed, logLevel: level },
        environment,
        file: Option.getOrElse(config, () => environment["HOLDFAST_CONFIG"])
      })
      const headers = yield* otlpHeadersOf(resolved.values)
      const prepared = yield* prepare(resolved.values)
      if (check) return yield* print(showConfiguration(resolved))
      yield* runService({ name, service: prepared, values: resolved.values, headers })
    })
  ).pipe(Command.withDescription(description))
}

const print = (text: string): Effect.Effect<void> =>
  Effect.callback((resume) => {
    process.stdout.write(`${text}\n`, () => resume(Effect.void))
  })

/** The exporters, and what they need, are loaded where they are asked for only. */
const telemetryOf = (options: {
  readonly service: string
  readonly instance: string
  readonly endpoint: string | undefined
  readonly headers: OtlpHeaders | undefined
}) => {
  const { endpoint } = options
  return endpoint === undefined
    ? Layer.empty
    : Layer.unwrap(
        Effect.map(
          Effect.promise(() => import("./observability/telemetry.ts")),
          ({ telemetryLayer }) => telemetryLayer({ ...options, endpoint })
        )
      )
}

const runService = <E>(options: {
  readonly name: string
  readonly service: PreparedService<E>
  readonly values: ObservabilityValues
  readonly headers: OtlpHeaders | undefined
}): Effect.Effect<void, E | CommandFailure> => {
  const { headers, name, service, values } = options
  const { label, start } = service
  return Effect.gen(function* () {
    const readiness = makeReadiness(label)
    if (values.metrics !== undefined) {
      const measured = yield* measureProcess(name, readiness)
      const collect = Effect.andThen(readiness.collect, measured)
      const { serveObservations } = yield* Effect.promise(
        () => import("./observability/observation-endpoint.ts")
      )
      yield* serveObservations({ address: values.metrics, readiness, collect })
    }
    const { observations, serve } = yield* start
    readiness.started(observations)
    yield* serve ?? Effect.andThen(sayReady(label), Effect.never)
  }).pipe(
    Effect.scoped,
    Effect.provide(
      telemetryOf({
        service: name,
        instance: label,
        endpoint: values.otlp,
        headers
      })
    ),
    Effect.provide(loggingLayer(values))
  )
}
