/** How a service runs as a process: it says that it serves, and goes on until it is stopped. */
import { Effect, Layer } from "effect"

/** Says that a service is ready: one line on standard error, for people and for scripts. */
export const sayReady = (service: string): Effect.Effect<void> =>
  Effect.sync(() => {
    process.stderr.write(`${service} is ready\n`)
  })

/** Starts a service, says so, and keeps it until the process is stopped. */
export const serveLayer = <A, E, R>(
  service: string,
  layer: Layer.Layer<A, E, R>
): Effect.Effect<never, E, R> =>
  Effect.scoped(Effect.andThen(Layer.build(layer), Effect.andThen(sayReady(service), Effect.never)))
