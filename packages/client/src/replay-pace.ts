/**
 * When a replayed record is due: at once, at a rate, or with the distances in time that the records
 * had when they were stamped.
 *
 * 1. Dues never fall: a record is never due before the one in front of it.
 * 2. A delay that the target causes is not made up for by a burst of more than `catchUpNanos`.
 */

/** How fast a replay goes. */
export type ReplayPace =
  | { readonly _tag: "Fastest" }
  /** Records a second, above 0. */
  | { readonly _tag: "Rate"; readonly perSecond: number }
  /** As the records came, `factor` times as fast; above 0. */
  | { readonly _tag: "Original"; readonly factor: number }

/** Tells dues in nanoseconds since the replay began. */
export interface Pacer {
  /** When the next record is due; asked once for each, in their order. */
  readonly due: (timestamp: bigint) => number
  /** Tells how late a record is that is sent now. */
  readonly late: (nanos: number) => void
}

const nanosPerSecond = 1e9
const catchUpNanos = nanosPerSecond

/** Makes the pacer of one run. */
export const makePacer = (pace: ReplayPace): Pacer => {
  let shift = 0
  const late: Pacer["late"] = (nanos) => {
    shift += Math.max(0, nanos - catchUpNanos)
  }
  switch (pace._tag) {
    case "Fastest":
      return { due: () => 0, late: () => undefined }
    case "Rate": {
      let count = 0
      return { due: () => shift + (count++ / pace.perSecond) * nanosPerSecond, late }
    }
    case "Original": {
      let first: bigint | undefined
      let last = 0
      const due: Pacer["due"] = (timestamp) => {
        first ??= timestamp
        last = Math.max(last, Number(timestamp - first) / pace.factor)
        return shift + last
      }
      return { due, late }
    }
  }
}
