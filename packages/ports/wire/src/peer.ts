/**
 * What clients ask of peers. Any peer takes any of these and forwards what is not its own; peers
 * speak to each other through `peer-replication.ts`. Error codes stand with each operation.
 */
import { Schema } from "effect"
import { Count, HexKey, PeerId } from "./identifiers.ts"
import { operation } from "./operation.ts"

/** How many participants must hold a write durably before it is answered. */
export const WriteConcern = Schema.Literals(["local", "one-more", "majority", "all"])
/** How many participants must hold a write durably before it is answered. */
export type WriteConcern = typeof WriteConcern.Type

/** A range of partition keys, both ends included. */
export const WireKeyRange = Schema.Tuple([HexKey, HexKey])
const KeyRanges = Schema.Array(WireKeyRange).check(Schema.isMaxLength(4_096))

/** An application's name. */
export const ApplicationName = Schema.String.check(
  Schema.isPattern(/^[a-z][a-z0-9-]{0,31}$/, {
    expected: "1 to 32 lower-case letters, digits or '-'"
  })
)

/** A peer that a request has passed, and the epoch it had then. */
export const Hop = Schema.Struct({ peer: PeerId, epoch: Count })
/** A peer that a request has passed. */
export type Hop = typeof Hop.Type

/**
 * Applies events to one partition, in order, once: a repeat with the same request id answers the
 * first outputs. Events and outputs are JSON of the application's schemas.
 * Errors: `no-such-application`, `invalid-event`, `no-route`, `forward-loop`, `pending-full`,
 * `write-concern-not-met` (its message says how many hold the write), `partition-too-large`,
 * `not-an-owner`, `damaged`, `storage-full`, `storage-unavailable`, `fenced`.
 */
export const request = operation({
  service: "peer",
  name: "request",
  request: Schema.Struct({
    application: ApplicationName,
    key: HexKey,
    events: Schema.Array(Schema.Unknown).check(Schema.isMaxLength(1_000)),
    writeConcern: WriteConcern,
    hops: Schema.Array(Hop).check(Schema.isMaxLength(16))
  }),
  response: Schema.Struct({
    outputs: Schema.Array(Schema.Unknown),
    /** Participants that held the write durably when this was answered. */
    heldBy: Count
  })
})

/** The projected state of one partition, null when it has none. Errors: as for `request`. */
export const read = operation({
  service: "peer",
  name: "read",
  request: Schema.Struct({
    application: ApplicationName,
    key: HexKey,
    hops: Schema.Array(Hop).check(Schema.isMaxLength(16))
  }),
  response: Schema.Struct({ state: Schema.Unknown })
})

/** A place in the index: strictly after it is what comes next. */
export const IndexCursor = Schema.Struct({ tag: Schema.Uint8Array, key: HexKey })
/** A place in the index. */
export type IndexCursor = typeof IndexCursor.Type

/** A record of the index, with the partition's projected state where that was asked for. */
export const FoundRecord = Schema.Struct({
  tag: Schema.Uint8Array,
  key: HexKey,
  state: Schema.optionalKey(Schema.Unknown)
})
/** A record of the index. */
export type FoundRecord = typeof FoundRecord.Type

const pageLimit = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 1_000 }))

/**
 * A page of the global index in (tag, key) order: records strictly after the cursor, with tags from
 * `from` up to and including `upTo`. `missing` names key ranges that no live peer answered for; the
 * page holds everything of the others. Without a `next` the walk is at its end. Errors:
 * `no-such-application`.
 */
export const search = operation({
  service: "peer",
  name: "search",
  request: Schema.Struct({
    application: ApplicationName,
    from: Schema.Uint8Array,
    upTo: Schema.Uint8Array,
    after: Schema.optionalKey(IndexCursor),
    limit: pageLimit,
    withState: Schema.Boolean
  }),
  response: Schema.Struct({
    records: Schema.Array(FoundRecord),
    next: Schema.optionalKey(IndexCursor),
    missing: KeyRanges
  })
})

/** A peer's own part of a search: what it indexes completely inside the given ranges. */
export const searchLocal = operation({
  service: "peer",
  name: "search-local",
  request: Schema.Struct({
    application: ApplicationName,
    from: Schema.Uint8Array,
    upTo: Schema.Uint8Array,
    after: Schema.optionalKey(IndexCursor),
    ranges: KeyRanges,
    limit: pageLimit,
    withState: Schema.Boolean
  }),
  response: Schema.Struct({
    records: Schema.Array(FoundRecord),
    /** More records follow the last one. */
    more: Schema.Boolean,
    /** Ranges it was asked for and does not answer for. */
    notServed: KeyRanges
  })
})

/** One peer as another one sees it. */
export const PeerStatus = Schema.Struct({
  peer: PeerId,
  live: Schema.Boolean,
  /** Milliseconds since it was last heard; absent when it never was. */
  lastHeardMs: Schema.optionalKey(Count),
  divergentPartitions: Count
})

/** A peer's view of itself and the others. */
export const peerStatus = operation({
  service: "peer",
  name: "status",
  request: Schema.Struct({}),
  response: Schema.Struct({
    peer: PeerId,
    incarnation: Count,
    boot: Count,
    epoch: Count,
    peers: Schema.Array(PeerStatus),
    applications: Schema.Array(
      Schema.Struct({ name: ApplicationName, partitions: Count, bytes: Count })
    ),
    workers: Count,
    pendingEvents: Count,
    quarantined: Count
  })
})

/** The partitions that this peer holds, in key order, strictly after one. */
export const partitions = operation({
  service: "peer",
  name: "partitions",
  request: Schema.Struct({
    application: ApplicationName,
    after: Schema.optionalKey(HexKey),
    limit: pageLimit
  }),
  response: Schema.Struct({
    partitions: Schema.Array(
      Schema.Struct({ key: HexKey, bytes: Count, damaged: Schema.optionalKey(Schema.String) })
    ),
    more: Schema.Boolean
  })
})

/** The most entries of a partition's history in one answer. */
export const historyEntriesMax = 100

/** An entry that not all participants are known to have acknowledged. */
export const HistoryEntry = Schema.Struct({
  /** `ordinal@issuer`. */
  id: Schema.String,
  kind: Schema.Literals(["event", "join", "leave", "eject"]),
  /** Who is let in or put out. */
  participant: Schema.optionalKey(Schema.String),
  request: Schema.optionalKey(Schema.String),
  /** The request's events, as JSON of the application's schema. */
  events: Schema.optionalKey(Schema.Array(Schema.Unknown)),
  heldBy: Schema.Array(Schema.String)
})
/** An entry that not all participants are known to have acknowledged. */
export type HistoryEntry = typeof HistoryEntry.Type

/**
 * One partition as this peer holds it; `history` has the oldest of its pending entries. Errors:
 * `not-found`, `no-such-application`.
 */
export const partition = operation({
  service: "peer",
  name: "partition",
  request: Schema.Struct({ application: ApplicationName, key: HexKey }),
  response: Schema.Struct({
    key: HexKey,
    projected: Schema.Unknown,
    infimum: Schema.Unknown,
    participants: Schema.Array(Schema.String),
    pending: Count,
    divergent: Schema.Array(Schema.String),
    tags: Schema.Array(Schema.String),
    /** The epoch that it was born under. */
    birthEpoch: Count,
    /** Whether it waits until it is known that it was not born elsewhere too. */
    isProvisional: Schema.Boolean,
    history: Schema.Array(HistoryEntry)
  })
})
