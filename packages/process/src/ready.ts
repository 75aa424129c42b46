/** How a service says that it serves. */
import { Effect } from "effect"

/** Says that a service is ready: one line on standard error, for people and for scripts. */
export const sayReady = (service: string): Effect.Effect<void> =>
  Effect.sync(() => {
    process.stderr.write(`${service} is ready\n`)
  })
