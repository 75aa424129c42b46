/**
 * What an object is about: an application folds events into a state.
 *
 * 1. `apply` is total and pure: the same event on the same state gives the same answer on every
 *    peer, and never throws. A change to it is a new `version`, which all peers must run together.
 * 2. The key of the partition is not given to `apply`.
 */
import type { Schema } from "effect"

/** What the power state itself needs of an application. */
export interface Fold<E, O, S> {
  readonly initial: S
  readonly apply: (event: E, state: S) => Applied<O, S>
}

/** The answer to an event, and the state after it. */
export interface Applied<O, S> {
  readonly output: O
  readonly state: S
}

/** An application as a peer hosts it: a fold with its schemas and its index entries. */
export interface Application<E, O, S> extends Fold<E, O, S> {
  /** Part of each partition's address; at most 64 of `A-Z a-z 0-9 _ -`. */
  readonly name: string
  /** Counts the versions of `apply`, `index` and the schemas; from 1. */
  readonly version: number
  readonly Event: Schema.Codec<E, unknown>
  readonly Output: Schema.Codec<O, unknown>
  readonly State: Schema.Codec<S, unknown>
  /** The tags under which search finds a partition of this state; pure, in any order. */
  readonly index: (state: S) => ReadonlyArray<Uint8Array>
}
