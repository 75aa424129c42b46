/**
 * A counter: numbers are added; the answer is the sum. Counters that are not zero can be searched.
 */
import { Schema } from "effect"

/** What can happen to a counter. */
export const CounterEvent = Schema.Struct({ add: Schema.Int })

const counted = Uint8Array.from("counted", (character) => character.charCodeAt(0))

/** Adds up whole numbers; what would leave the safe ones stays at their end. */
export const counter = {
  name: "counter",
  version: 1,
  Event: CounterEvent,
  Output: Schema.Int,
  State: Schema.Int,
  initial: 0,
  apply: ({ add }: typeof CounterEvent.Type, sum: number) => {
    const bounded = Math.min(Math.max(sum + add, Number.MIN_SAFE_INTEGER), Number.MAX_SAFE_INTEGER)
    return { output: bounded, state: bounded }
  },
  index: (sum: number): ReadonlyArray<Uint8Array> => (sum === 0 ? [] : [counted])
}
