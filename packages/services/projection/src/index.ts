/** The projection pipeline: records folded into the partitions of a peer application. */
export { projectionModule, ProjectionSettings } from "./projection-module.ts"
export {
  partitionKeyOf,
  type ProjectedEvent,
  projectionLayer,
  type ProjectionOptions
} from "./projection.ts"
