/**
 * What clients and operators ask of the metadata service. Chunk servers speak to it through
 * `metadata-chunk-servers.ts`. Error codes stand with each operation.
 */
import { ChunkDescription, ChunkName, ChunkReceipt, ChunkTarget } from "@holdfast/storage"
import { Schema } from "effect"
import { Count, DeviceId } from "./identifiers.ts"
import { operation } from "./operation.ts"

const Goal = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 15 }))
const ChunkKey = Schema.Struct({ fileId: Count, chunkId: Count })
const batchMax = 5_000
const Batch = <S extends Schema.Top>(item: S) =>
  Schema.Array(item).check(Schema.isMaxLength(batchMax))

/** Allots a file id that was never used; the same request id answers the same file. */
export const createFile = operation({
  service: "metadata",
  name: "create-file",
  request: Schema.Struct({}),
  response: Schema.Struct({ fileId: Count })
})

/**
 * Reserves room for a chunk on distinct devices and answers write capabilities under a lease.
 * Errors: `not-enough-devices`, `no-space`, `not-ready`, `unknown-file`, `no-such-chunk`.
 */
export const alloc = operation({
  service: "metadata",
  name: "alloc",
  request: Schema.Struct({
    fileId: Count,
    /** Rewrites this chunk; absent for the file's next chunk. */
    chunkId: Schema.optionalKey(Count),
    size: Count,
    want: Goal,
    min: Goal,
    exclude: Batch(DeviceId)
  }),
  response: Schema.Struct({
    lease: Schema.String,
    chunk: ChunkName,
    targets: Schema.Array(ChunkTarget),
    expiresAfterMs: Count
  })
})

/** What a publish made of one device's receipt. */
export const PublishedDevice = Schema.Struct({
  deviceId: DeviceId,
  status: Schema.Literals([
    "counted",
    "unknown-device",
    "offline-device",
    "bad-receipt",
    "stale-epoch",
    "other-bytes"
  ])
})

/**
 * Commits a version: its holders are exactly the devices whose receipts count.
 * Errors: `lease-expired`, `unknown-lease`, `too-few-copies`, `stale-version`.
 */
export const publish = operation({
  service: "metadata",
  name: "publish",
  request: Schema.Struct({
    lease: Schema.String,
    chunk: ChunkDescription,
    goal: Goal,
    min: Goal,
    receipts: Schema.Array(ChunkReceipt).check(Schema.isMaxLength(15))
  }),
  response: Schema.Struct({ copies: Count, devices: Schema.Array(PublishedDevice) })
})

/** Gives a reservation back before it expires; an unknown lease is no error. */
export const abandon = operation({
  service: "metadata",
  name: "abandon",
  request: Schema.Struct({ lease: Schema.String }),
  response: Schema.Struct({})
})

/** A committed chunk with read capabilities for its verified holders, nearest first. */
export const ChunkLocation = Schema.Struct({
  chunk: ChunkDescription,
  goal: Goal,
  holders: Schema.Array(ChunkTarget)
})
/** A committed chunk with read capabilities for its verified holders. */
export type ChunkLocation = typeof ChunkLocation.Type

/** What is known of one chunk that was asked for. */
export const SearchResult = Schema.TaggedUnion({
  Found: { location: ChunkLocation },
  NotReady: {},
  Missing: { chunk: ChunkDescription },
  Corrupt: { chunk: ChunkDescription },
  NoSuchChunk: {}
})
/** What is known of one chunk that was asked for. */
export type SearchResult = typeof SearchResult.Type

/** Where one chunk is. Errors: `not-ready`, `missing`, `corrupt`, `no-such-chunk`. */
export const locate = operation({
  service: "metadata",
  name: "locate",
  request: ChunkKey,
  response: ChunkLocation
})

/** Where many chunks are; one result each, in order. */
export const search = operation({
  service: "metadata",
  name: "search",
  request: Schema.Struct({ chunks: Batch(ChunkKey) }),
  response: Schema.Struct({ results: Schema.Array(SearchResult) })
})

/** How well a committed chunk is held. */
export const ChunkHealth = Schema.Literals([
  "at-goal",
  "below-goal",
  "surplus",
  "unknown",
  "missing",
  "corrupt"
])
/** How well a committed chunk is held. */
export type ChunkHealth = typeof ChunkHealth.Type

/** A file's committed chunks in order, strictly after one. */
export const listChunks = operation({
  service: "metadata",
  name: "list-chunks",
  request: Schema.Struct({
    fileId: Count,
    after: Schema.optionalKey(Count),
    limit: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: batchMax }))
  }),
  response: Schema.Struct({
    chunks: Schema.Array(
      Schema.Struct({ chunk: ChunkDescription, goal: Goal, copies: Count, health: ChunkHealth })
    ),
    more: Schema.Boolean
  })
})

/** Frees versions up to the given ones; durable when answered, also in safe mode. */
export const free = operation({
  service: "metadata",
  name: "free",
  request: Schema.Struct({ chunks: Batch(ChunkName) }),
  response: Schema.Struct({
    results: Schema.Array(Schema.Literals(["freed", "no-such-chunk", "newer-version"]))
  })
})

/** A reader's word that a copy is bad; it is verified before it is believed. */
export const reportBad = operation({
  service: "metadata",
  name: "report-bad",
  request: Schema.Struct({ chunk: ChunkName, deviceId: DeviceId }),
  response: Schema.Struct({})
})

/**
 * Copies what a device holds to others, then takes it out; durable. `thaw` ends it before.
 * Errors: `unknown-device`.
 */
export const drain = operation({
  service: "metadata",
  name: "drain",
  request: Schema.Struct({ deviceId: DeviceId }),
  response: Schema.Struct({ belowGoal: Count })
})

/** A chunk that keeps a draining device: a word for programs and a sentence for people. */
export const DrainBlocker = Schema.Struct({
  chunk: ChunkName,
  reason: Schema.String,
  sentence: Schema.String
})
/** A chunk that keeps a draining device. */
export type DrainBlocker = typeof DrainBlocker.Type

/**
 * What keeps a draining device, in order of the chunks, strictly after one; `next` is where the
 * next page begins, absent at the end. A page may be empty. Errors: `unknown-device`.
 */
export const drainBlockers = operation({
  service: "metadata",
  name: "drain-blockers",
  request: Schema.Struct({
    deviceId: DeviceId,
    after: Schema.optionalKey(ChunkKey),
    limit: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 1_000 }))
  }),
  response: Schema.Struct({
    blockers: Schema.Array(DrainBlocker),
    next: Schema.optionalKey(ChunkKey)
  })
})

/**
 * Forgets a device that was drained or taken out and is served no more.
 * Errors: `unknown-device`, `device-in-use`.
 */
export const remove = operation({
  service: "metadata",
  name: "remove",
  request: Schema.Struct({ deviceId: DeviceId }),
  response: Schema.Struct({})
})

/** Takes a device out of the map at once. Errors: `unknown-device`. */
export const offline = operation({
  service: "metadata",
  name: "offline",
  request: Schema.Struct({ deviceId: DeviceId }),
  response: Schema.Struct({ belowGoal: Count })
})

/** No new chunk goes to the device from now on; durable. Errors: `unknown-device`. */
export const freeze = operation({
  service: "metadata",
  name: "freeze",
  request: Schema.Struct({ deviceId: DeviceId }),
  response: Schema.Struct({})
})

/** The opposite of freeze, drain and offline. Errors: `unknown-device`. */
export const thaw = operation({
  service: "metadata",
  name: "thaw",
  request: Schema.Struct({ deviceId: DeviceId }),
  response: Schema.Struct({})
})

/** Enters or leaves safe mode by hand; `force` also where the record may be older than the data. */
export const safeMode = operation({
  service: "metadata",
  name: "safe-mode",
  request: Schema.Struct({ action: Schema.Literals(["enter", "leave", "force"]) }),
  response: Schema.Struct({ tip: Schema.String })
})

/** The state of safe mode and, in words, what is missing. */
export const SafeModeStatus = Schema.Struct({
  phase: Schema.Literals(["pending", "extension", "off", "manual"]),
  tip: Schema.String
})

/** Counts over everything. */
export const status = operation({
  service: "metadata",
  name: "status",
  request: Schema.Struct({}),
  response: Schema.Struct({
    clusterId: Schema.String,
    safeMode: SafeModeStatus,
    chunks: Schema.Struct({
      known: Count,
      atGoal: Count,
      /** Of those at their goal, the ones that could stand on more hosts or racks. */
      badlySpread: Schema.optionalKey(Count),
      belowGoal: Count,
      surplus: Count,
      unknown: Count,
      missing: Count,
      corrupt: Count
    }),
    devices: Schema.Struct({ live: Count, stale: Count, dead: Count, registering: Count }),
    hosts: Schema.Struct({ live: Count, dead: Count }),
    pending: Schema.Struct({
      copies: Count,
      deletions: Count,
      reservations: Count,
      quarantined: Count,
      /** Freed chunks whose copies are not all known to be gone. */
      freed: Schema.optionalKey(Count),
      /** How long the oldest deletion has waited for its acknowledgement. */
      oldestDeletionMs: Schema.optionalKey(Count)
    }),
    /** Chunks that wait for a copy, by how urgent it is. */
    repair: Schema.optionalKey(
      Schema.Struct({ onlyCopy: Count, veryLow: Count, low: Count, badlySpread: Count })
    ),
    violations: Schema.Array(Schema.String)
  })
})

/** One device as the service sees it. */
export const DeviceStatus = Schema.Struct({
  deviceId: DeviceId,
  hostId: Schema.String,
  url: Schema.String,
  /** Where its host stands; absent when it does not say. */
  rack: Schema.optionalKey(Schema.String),
  state: Schema.Literals(["registering", "online", "stale", "dead"]),
  mode: Schema.Literals(["normal", "frozen", "draining", "removed"]),
  epoch: Count,
  capacity: Count,
  used: Count,
  available: Count,
  committed: Count,
  copies: Count,
  pendingDeletions: Count,
  lastHeardMs: Count,
  /** Chunks that needed a draining device in the latest pass over all chunks. */
  blocked: Schema.optionalKey(Count)
})
/** One device as the service sees it. */
export type DeviceStatus = typeof DeviceStatus.Type

/** The devices in order of their ids, strictly after one. */
export const devices = operation({
  service: "metadata",
  name: "devices",
  request: Schema.Struct({
    after: Schema.optionalKey(Schema.String),
    limit: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 500 }))
  }),
  response: Schema.Struct({ devices: Schema.Array(DeviceStatus), more: Schema.Boolean })
})

/** One host as the service sees it; its devices summed up. */
export const HostStatus = Schema.Struct({
  hostId: Schema.String,
  url: Schema.String,
  /** Where it stands; absent when it does not say. */
  rack: Schema.optionalKey(Schema.String),
  incarnation: Count,
  live: Schema.Boolean,
  lastHeardMs: Count,
  devices: Count,
  capacity: Count,
  used: Count,
  available: Count,
  copies: Count
})
/** One host as the service sees it. */
export type HostStatus = typeof HostStatus.Type

/** The hosts in order of their ids, strictly after one. */
export const hosts = operation({
  service: "metadata",
  name: "hosts",
  request: Schema.Struct({
    after: Schema.optionalKey(Schema.String),
    limit: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 500 }))
  }),
  response: Schema.Struct({ hosts: Schema.Array(HostStatus), more: Schema.Boolean })
})

/** One copy of a chunk on a device: valid, stale, future, corrupt, writing, copying and so on. */
export const CopyStatus = Schema.Struct({
  deviceId: DeviceId,
  hostId: Schema.String,
  version: Count,
  state: Schema.String
})

/**
 * One chunk with all that is known of its copies. `chunk` and `goal` are absent when it is not
 * committed, `reason` and `sentence` when it is held as it is meant to be.
 */
export const inspectChunk = operation({
  service: "metadata",
  name: "inspect-chunk",
  request: ChunkKey,
  response: Schema.Struct({
    chunk: Schema.optionalKey(ChunkDescription),
    goal: Schema.optionalKey(Goal),
    health: Schema.optionalKey(ChunkHealth),
    reason: Schema.optionalKey(Schema.String),
    sentence: Schema.optionalKey(Schema.String),
    copies: Schema.Array(CopyStatus)
  })
})

/** A chunk that is not held as it is meant to be: why, for programs and for people. */
export const TroubledChunk = Schema.Struct({
  chunk: ChunkDescription,
  goal: Goal,
  copies: Count,
  reason: Schema.String,
  sentence: Schema.String
})
/** A chunk that is not held as it is meant to be. */
export type TroubledChunk = typeof TroubledChunk.Type

/**
 * Chunks that are not held as they are meant to be, in order, strictly after one; with `reason`
 * only those that have it. `next` is where the next page begins, absent at the end; a page may be
 * empty.
 */
export const troubledChunks = operation({
  service: "metadata",
  name: "troubled-chunks",
  request: Schema.Struct({
    after: Schema.optionalKey(ChunkKey),
    limit: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 1_000 })),
    reason: Schema.optionalKey(Schema.String)
  }),
  response: Schema.Struct({
    chunks: Schema.Array(TroubledChunk),
    next: Schema.optionalKey(ChunkKey)
  })
})
