/** Building layers within the life of a node. */
import { Effect, Layer, type Scope } from "effect"

/** Builds a layer in the scope of a node and runs an effect with it. */
export const withLayer = <A, E, R, E2>(
  layer: Layer.Layer<R, E2>,
  effect: Effect.Effect<A, E, R | Scope.Scope>
): Effect.Effect<A, E | E2, Scope.Scope> =>
  Effect.flatMap(Layer.build(Layer.fresh(layer)), (context) =>
    Effect.provideContext(effect, context)
  )
