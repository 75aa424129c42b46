/**
 * Where an object comes from: its key, the cluster epoch it was born under, and its lineage.
 *
 * 1. Two states are merged only if their origins are equal.
 * 2. An operator who forces an ejection without a majority begins a new lineage.
 */
import { Schema } from "effect"

const Count = Schema.Int.pipe(Schema.check(Schema.isGreaterThanOrEqualTo(0)))

/** The birth of an object. */
export const Origin = Schema.Struct({
  key: Schema.NonEmptyString,
  epoch: Count,
  lineage: Count
})
/** The birth of an object. */
export interface Origin extends Schema.Schema.Type<typeof Origin> {}

/** Whether both were born under the same key and epoch. */
export const sameBirth = (left: Origin, right: Origin): boolean =>
  left === right || (left.key === right.key && left.epoch === right.epoch)

/** Whether both are states of one object and one lineage. */
export const sameOrigin = (left: Origin, right: Origin): boolean =>
  sameBirth(left, right) && left.lineage === right.lineage
