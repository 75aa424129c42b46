/**
 * Whether a process is able to serve, and what it misses.
 *
 *     starting ──▶ started: asked at each probe, within a deadline
 *
 * A probe never waits longer than its deadline; what does not answer in time is missing.
 */
import { Effect } from "effect"

/** Sentences that name what is missing; none when the process can serve. */
export type Missing = Effect.Effect<ReadonlyArray<string>>

/** What a started process says of itself. */
export interface Observations {
  readonly missing: Missing
  /** Brings gauges up to date before they are scraped. */
  readonly collect: Effect.Effect<void>
}

/** The state that the probes ask. */
export interface Readiness {
  readonly missing: Missing
  readonly collect: Effect.Effect<void>
  readonly started: (observations: Observations) => void
}

/** How long one probe may take. */
const probeDeadline = "2 seconds"

/** Begins as `starting`. */
export const makeReadiness = (service: string): Readiness => {
  let observations: Observations | undefined
  return {
    started: (made) => {
      observations = made
    },
    missing: Effect.suspend(() =>
      observations === undefined
        ? Effect.succeed([`${service} is starting`])
        : observations.missing.pipe(
            Effect.timeoutOrElse({
              duration: probeDeadline,
              orElse: () => Effect.succeed([`${service} does not answer within ${probeDeadline}`])
            })
          )
    ),
    collect: Effect.suspend(() =>
      observations === undefined
        ? Effect.void
        : observations.collect.pipe(Effect.timeoutOption(probeDeadline), Effect.asVoid)
    )
  }
}
