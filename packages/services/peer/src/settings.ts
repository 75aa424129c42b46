/** How a peer runs: who it is, what it hosts, and its limits. */
import type { Capacity } from "@holdfast/cluster"
import { FACTOR_DEFAULT, type Member, type PeerId } from "@holdfast/keyspace"
import type { ClusterId } from "@holdfast/wire"
import type { HostedApplication } from "./replica.ts"

/** How a peer may begin: only on an empty store, only on its own, or whichever it finds. */
export type StartMode = "new" | "recover" | "new-or-recover"

/** Times in milliseconds; each has a default. */
export interface PeerTimes {
  /** How often a sign of life is published. */
  readonly helloMillis: number
  /** A peer not heard for so long counts as down. */
  readonly silentMillis: number
  /** How often this peer compares itself with a random other. */
  readonly gossipMillis: number
  /** When what was just acknowledged by all is told to those who helped. */
  readonly settleMillis: number
  /** When a receiver passes on what others seem not to have. */
  readonly resendMillis: number
  /** How long acknowledgements of others may wait before they are saved. */
  readonly flushMillis: number
  /** After so long without a job a partition leaves memory. */
  readonly idleMillis: number
  /** The deadline of a message between peers. */
  readonly replicationMillis: number
  /** The deadline of a request that names none. */
  readonly requestMillis: number
  /** A part of a search that takes longer is asked of the next replica, too. */
  readonly hedgeMillis: number
  /** How long a stop waits for what is under way. */
  readonly drainMillis: number
  /** How long a newcomer asks to be taken in before it gives up. */
  readonly joinMillis: number
  /** How often a peer looks at what the cluster's agreement leaves it to do. */
  readonly stewardMillis: number
  /** A member that is silent for so long is ejected; infinite for never. */
  readonly ejectSilentMillis: number
}

/** Bounds; each has a default. */
export interface PeerLimits {
  /** Jobs that wait; the next is refused as overloaded. */
  readonly jobsMax: number
  /** Jobs of one commit. */
  readonly batchJobsMax: number
  /** Partitions that stay in memory. */
  readonly cachedMax: number
  /** Pending entries of one partition. */
  readonly pendingMax: number
  /** Partitions that wait to be sent to one peer; more are left to gossip. */
  readonly outboxMax: number
  /** Messages to one peer under way at a time. */
  readonly sendersPerPeer: number
  /** Requests handled at a time. */
  readonly requestsMax: number
}

/** A peer's settings, complete. */
export interface PeerSettings {
  readonly cluster: ClusterId
  readonly peer: PeerId
  readonly founders: ReadonlyArray<Member>
  readonly factor: number
  readonly capacity: Capacity
  readonly applications: ReadonlyArray<HostedApplication>
  readonly start: StartMode
  readonly isReintegrated: boolean
  readonly times: PeerTimes
  readonly limits: PeerLimits
}

/** The times if nothing else is said. */
export const peerTimesDefault: PeerTimes = {
  helloMillis: 1_000,
  silentMillis: 3_500,
  gossipMillis: 2_000,
  settleMillis: 1_000,
  resendMillis: 3_000,
  flushMillis: 1_000,
  idleMillis: 30_000,
  replicationMillis: 2_000,
  requestMillis: 10_000,
  hedgeMillis: 250,
  drainMillis: 5_000,
  joinMillis: 30_000,
  stewardMillis: 500,
  ejectSilentMillis: Infinity
}

/** The limits if nothing else is said. */
export const peerLimitsDefault: PeerLimits = {
  jobsMax: 8_192,
  batchJobsMax: 1_024,
  cachedMax: 10_000,
  pendingMax: 4_096,
  outboxMax: 10_000,
  sendersPerPeer: 2,
  requestsMax: 1_024
}

/** What must be said about a peer; the rest has defaults. */
export interface PeerOptions {
  readonly cluster: ClusterId
  readonly peer: PeerId
  /**
   * Those who found the cluster; each is told the same. It matters until the cluster's state is in
   * the store, never after it. A peer that is not among them joins.
   */
  readonly founders: ReadonlyArray<Member>
  /** How many peers hold a key, where founded; 3 by default. */
  readonly factor?: number
  /** What a newcomer brings; weight 1 by default. */
  readonly capacity?: Capacity
  readonly applications: ReadonlyArray<HostedApplication>
  readonly start?: StartMode
  /**
   * Where the life of the store has ended by an ejection, what only it holds is submitted again,
   * and the peer joins as its next life; refused otherwise, as what is there may be wanted.
   */
  readonly isReintegrated?: boolean
  readonly times?: Partial<PeerTimes>
  readonly limits?: Partial<PeerLimits>
}

/** Completes options with the defaults. */
export const completeSettings = (options: PeerOptions): PeerSettings => ({
  cluster: options.cluster,
  peer: options.peer,
  founders: options.founders,
  factor: options.factor ?? FACTOR_DEFAULT,
  capacity: options.capacity ?? { weight: 1 },
  applications: options.applications,
  start: options.start ?? "new-or-recover",
  isReintegrated: options.isReintegrated ?? false,
  times: { ...peerTimesDefault, ...options.times },
  limits: { ...peerLimitsDefault, ...options.limits }
})
