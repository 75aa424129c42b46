/** Short notations for the tests of this package. */
import { defaultLimits, type Limits } from "../limits.ts"
import type { CompletionMap } from "../completion-map.ts"
import { Tracker } from "../tracker.ts"
import type { Admission, Ordinal } from "../tracker-types.ts"

/** The epoch of the trackers that the tests make. */
export const epoch = 7

/** A tracker with default limits where none are given. */
export const openTracker = (
  options: {
    readonly limits?: Partial<Limits>
    readonly after?: bigint
    readonly restored?: CompletionMap
  } = {}
): Tracker =>
  new Tracker({
    limits: { ...defaultLimits, ...options.limits },
    epoch,
    after: options.after,
    restored: options.restored
  })

/** Admits a record of one byte at time 0. */
export const admit = (tracker: Tracker, position: number | bigint, parts?: number): Admission =>
  tracker.admit({
    position: BigInt(position),
    bytes: 1,
    seenAt: 0,
    ...(parts === undefined ? {} : { parts })
  })

/** Admits a record that must be new and answers its ordinal. */
export const enter = (tracker: Tracker, position: number | bigint, parts?: number): Ordinal => {
  const admission = admit(tracker, position, parts)
  switch (admission._tag) {
    case "Admitted":
    case "Resumed":
      return admission.ordinal
    case "Repeated":
    case "Finished":
    case "Refused":
    case "Stale":
      throw new Error(`position ${position} was ${admission._tag}`)
  }
}

/** Admits several new records. */
export const enterAll = (tracker: Tracker, ...positions: ReadonlyArray<number>): Array<Ordinal> =>
  positions.map((position) => enter(tracker, position))

/** Completes records by their positions. */
export const completeAll = (tracker: Tracker, ...positions: ReadonlyArray<number>): void => {
  for (const position of positions) {
    const ordinal = tracker.find(BigInt(position))
    if (ordinal === undefined) throw new Error(`position ${position} is not in the window`)
    tracker.complete(ordinal, epoch)
  }
}
