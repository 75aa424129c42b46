/** How a service says that it serves: one line on standard error, for people and for scripts. */
import { Effect } from "effect"

/** Says that a service is ready. */
export const sayReady = (service: string): Effect.Effect<void> =>
  Effect.sync(() => {
    process.stderr.write(`${service} is ready\n`)
  })
