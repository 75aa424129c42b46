/**
 * Faults as data: what goes wrong, when and for how long, each by itself, so that a plan can be
 * printed one fault a line, and any subset of a plan is a plan.
 */
import { Schema } from "effect"

const Millis = Schema.Natural
const Count = Schema.Natural
const Probability = Schema.Number.check(Schema.isBetween({ minimum: 0, maximum: 1 }))
const Name = Schema.String
const lasting = { atMillis: Millis, forMillis: Millis }

/**
 * A fault.
 *
 * | what | it does |
 * |---|---|
 * | Links | what links from and to these nodes do; null for any |
 * | Isolate, OneWay | these nodes against all others, both ways; nothing passes from one to another |
 * | Kill | `kill -9` in place of one of the next steps, unsynced writes lost |
 * | PowerCut | all servers at once |
 * | Stop, Pause | it ends in order; the process stands still |
 * | Disconnect | no broker, and the node knows it |
 * | ClockJump | the wall clock of a node |
 * | FlipBit | one bit of a copy that is not the last good one |
 * | DamagedStore | the same of a partition of a peer, which is killed before and starts after it |
 * | DiskFull, SlowDisk, FailWrites, FailReads | a disk |
 * | TightDisk | a disk has room for so many bytes more |
 * | Streams, Store | the broker does not answer so many operations, or late, or did them all the same, or does not hear them |
 * | BrokerCut | a worker runs on and reaches neither leases nor checkpoints |
 * | LateWrites | writes to the broker's store fail for their sender, and happen so much later |
 * | DamagedJournal, DamagedIdentity | one bit of them, found at a start; it is mended afterwards |
 * | Clone | another host is restarted with a copy of the device's directory |
 * | NoHandles, ShortReads | a host can open no file; its reads come in pieces of a few bytes |
 * | Operator | somebody freezes, thaws or drains a device |
 * | Takeover | a worker that runs a shard stands still for longer than its lease |
 */
export const Fault = Schema.TaggedUnion({
  Links: {
    ...lasting,
    from: Schema.NullOr(Name),
    to: Schema.NullOr(Name),
    loss: Probability,
    duplication: Probability,
    delayMillis: Millis,
    reorder: Probability
  },
  Isolate: { ...lasting, nodes: Schema.Array(Name) },
  OneWay: { ...lasting, from: Name, to: Name },
  Kill: { ...lasting, node: Name, steps: Count },
  PowerCut: { ...lasting },
  Stop: { ...lasting, node: Name },
  Pause: { ...lasting, node: Name },
  Disconnect: { ...lasting, node: Name },
  ClockJump: { atMillis: Millis, node: Name, millis: Schema.Int },
  FlipBit: { atMillis: Millis, device: Name, pick: Count, byte: Count, bit: Count },
  DamagedStore: { ...lasting, node: Name, pick: Count, byte: Count, bit: Count },
  DiskFull: { ...lasting, disk: Name },
  TightDisk: { ...lasting, disk: Name, bytes: Count },
  SlowDisk: { ...lasting, disk: Name, millis: Millis },
  FailWrites: { atMillis: Millis, disk: Name, count: Count },
  FailReads: { atMillis: Millis, disk: Name, count: Count },
  Streams: { ...lasting, unavailable: Count, lostAcknowledgements: Count, delayMillis: Millis },
  Store: { ...lasting, unavailable: Count, lostAnswers: Count, delayMillis: Millis },
  DamagedJournal: { ...lasting, pick: Count, byte: Count, bit: Count },
  DamagedIdentity: { ...lasting, device: Name, byte: Count, bit: Count },
  Clone: { ...lasting, device: Name, node: Name },
  NoHandles: { ...lasting, node: Name },
  ShortReads: { ...lasting, node: Name },
  Operator: {
    atMillis: Millis,
    device: Name,
    action: Schema.Literals(["freeze", "thaw", "drain"])
  },
  BrokerCut: { ...lasting, node: Name },
  LateWrites: { atMillis: Millis, count: Count, delayMillis: Millis },
  Takeover: { ...lasting, pick: Count }
})
/** A fault. */
export type Fault = typeof Fault.Type

/** A plan: faults in any order, each at its own time after the start of the faulty phase. */
export const FaultPlan = Schema.Array(Fault)
/** A plan. */
export type FaultPlan = typeof FaultPlan.Type

/** A fault in one line. */
export const printFault = (fault: Fault): string => {
  const { _tag, atMillis, ...rest } = fault
  const words = Object.entries(rest).map(([name, value]) => `${name}=${JSON.stringify(value)}`)
  return `${String(atMillis).padStart(7)} ms  ${_tag} ${words.join(" ")}`.trimEnd()
}
