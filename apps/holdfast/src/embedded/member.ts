/**
 * A part of an embedded cluster that can be stopped by itself: a service in a scope of its own,
 * below the cluster's.
 */
import { Effect, Exit, Layer, Metric, Scope } from "effect"

/** A running part. */
export interface Member {
  readonly name: string
  /** Stops it as a process is stopped: it drains; a second stop does nothing. */
  readonly stop: Effect.Effect<void>
}

/** Runs what a member does, so that its metrics carry its name. */
export const asMember = <A, E, R>(
  name: string,
  effect: Effect.Effect<A, E, R>
): Effect.Effect<A, E, R> =>
  Effect.provideService(effect, Metric.CurrentMetricAttributes, { member: name })

/** Starts a layer as a member; it ends with the surrounding scope at the latest. */
export const startMember = Effect.fnUntraced(function* <A, E, R>(
  name: string,
  layer: Layer.Layer<A, E, R>
): Effect.fn.Return<Member, E, R | Scope.Scope> {
  const scope = yield* Effect.flatMap(Effect.scope, (parent) => Scope.fork(parent))
  // Fresh, so that stopping one member never closes what another one still uses.
  yield* asMember(name, Layer.buildWithScope(Layer.fresh(layer), scope))
  return { name, stop: Scope.close(scope, Exit.void) }
})
