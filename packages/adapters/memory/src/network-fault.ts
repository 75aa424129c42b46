/**
 * Network faults as data: what a link does to messages, and what happens at which time. A plan can
 * be written to a file, printed with a failing seed and read back.
 */
import { Schema } from "effect"

const Probability = Schema.Number.check(Schema.isBetween({ minimum: 0, maximum: 1 }))
const Millis = Schema.Natural

/** What one direction of a link does to each message; probabilities are drawn independently. */
export const LinkFaults = Schema.Struct({
  /** The chance that a message vanishes. */
  loss: Probability,
  /** The chance that a message arrives twice. */
  duplication: Probability,
  /** The shortest and the longest time on the way, in whole milliseconds. */
  delayMillis: Schema.Tuple([Millis, Millis]),
  /** The chance that a message may be overtaken by later ones of its link. */
  reorder: Probability
})
/** What one direction of a link does to each message. */
export type LinkFaults = typeof LinkFaults.Type

/** A link that delivers every message once, at once and in order. */
export const faultlessLink: LinkFaults = {
  loss: 0,
  duplication: 0,
  delayMillis: [0, 0],
  reorder: 0
}

/**
 * A change of the network. `Links`: the behaviour of the links from and to these nodes, where
 * null stands for any; the closest such rule holds for a link. `Block` and `Unblock`: one
 * direction. `Partition`: both directions between two groups of
 * nodes. `Heal`: no block is left. `Crash`: the node's handlers and requests end at once. `Stall`:
 * nothing enters or leaves the node until `Resume`. `Disconnect`: the node has no transport until
 * `Reconnect`, and knows it.
 */
export const NetworkFault = Schema.TaggedUnion({
  Links: {
    faults: LinkFaults,
    from: Schema.NullOr(Schema.String),
    to: Schema.NullOr(Schema.String)
  },
  Block: { from: Schema.String, to: Schema.String },
  Unblock: { from: Schema.String, to: Schema.String },
  Partition: { left: Schema.Array(Schema.String), right: Schema.Array(Schema.String) },
  Heal: {},
  Crash: { node: Schema.String },
  Stall: { node: Schema.String },
  Resume: { node: Schema.String },
  Disconnect: { node: Schema.String },
  Reconnect: { node: Schema.String }
})
/** A change of the network. */
export type NetworkFault = typeof NetworkFault.Type

/** Faults in order, each some time after the one before it. */
export const FaultPlan = Schema.Array(Schema.Struct({ afterMillis: Millis, fault: NetworkFault }))
/** Faults in order, each some time after the one before it. */
export type FaultPlan = typeof FaultPlan.Type
