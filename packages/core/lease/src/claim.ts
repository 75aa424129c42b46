/** Claims on shards, as they are stored and as an observer sees them: plain data. */
import type { Option } from "effect"

/** A claim on a shard; one record a shard, changed by compare-and-set only. */
export interface Claim {
  readonly shard: string
  /** The owner; none when the shard was released. */
  readonly owner: Option.Option<string>
  /** Rises with each change of owner; it fences whatever was written under an older one. */
  readonly epoch: number
  /** Rises with each renewal. Whoever sees it stand still counts the time by its own clock. */
  readonly beat: number
  /** A worker that asks for the shard; the owner drains and releases it, or clears the mark. */
  readonly wantedBy: Option.Option<string>
  /** An operator has paused the shard: its owner lets it go, and nobody takes it. */
  readonly isPaused?: boolean
}

/** A claim with the revision that the next write must name. */
export interface StoredClaim {
  readonly record: Claim
  readonly revision: bigint
}

/** A stored claim with when this observer last saw it change, on its own monotonic clock. */
export interface ObservedClaim extends StoredClaim {
  /** When the owner, epoch or beat was last seen to change; at first, when it was first seen. */
  readonly changedAt: number
  /** When the mark `wantedBy` was last seen to change. */
  readonly markedAt: number
}

/** What one observer has seen, by shard. */
export type ClaimTable = ReadonlyMap<string, ObservedClaim>

/** A shard that this worker runs. */
export interface Holding {
  /** The epoch under which it was claimed. */
  readonly epoch: number
  /** When the last renewal that succeeded was begun, on this worker's monotonic clock. */
  readonly renewedAt: number
  /** Whether it is being drained, to be released. */
  readonly isDraining: boolean
}
