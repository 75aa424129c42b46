/**
 * What operators ask of the metadata service: modes of devices, safe mode, counts, and a look into
 * the map. They are part of `MetadataOperations`. Error codes stand with each operation.
 */
import { ChunkDescription, ChunkName } from "@holdfast/storage"
import { Schema } from "effect"
import { ChunkHealth, ChunkKey, Goal } from "./chunk-schemas.ts"
import { Count, DeviceId } from "./identifiers.ts"
import { operation } from "./operation.ts"

const OneDevice = Schema.Struct({ deviceId: DeviceId })
const Done = Schema.Struct({})
/** How many chunks have fewer copies than they are meant to have. */
const ShortOfCopies = Schema.Struct({ belowGoal: Count })
/** How many items a page has at most. */
const limitOf = (maximum: number) => Schema.Int.check(Schema.isBetween({ minimum: 1, maximum }))

/**
 * Copies what a device holds to others, then takes it out; durable. `thaw` ends it before, and alone
 * brings back what was taken out: a repeat changes nothing then. Errors: `unknown-device`.
 */
export const drain = operation({
  service: "metadata",
  name: "drain",
  request: OneDevice,
  response: ShortOfCopies
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
    limit: limitOf(1_000)
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
  request: OneDevice,
  response: Done
})

/** Takes a device out of the map at once. Errors: `unknown-device`. */
export const offline = operation({
  service: "metadata",
  name: "offline",
  request: OneDevice,
  response: ShortOfCopies
})

/**
 * No new chunk goes to the device from now on; durable. Writes that were let in before end as they
 * may: `openWrites` of the device says how many are left. A drain goes on. Errors: `unknown-device`.
 */
export const freeze = operation({
  service: "metadata",
  name: "freeze",
  request: OneDevice,
  response: Done
})

/** The opposite of freeze, drain and offline. Errors: `unknown-device`. */
export const thaw = operation({
  service: "metadata",
  name: "thaw",
  request: OneDevice,
  response: Done
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
  blocked: Schema.optionalKey(Count),
  /** Of a device that takes nothing new: writes let in before that are not over. */
  openWrites: Schema.optionalKey(Count)
})
/** One device as the service sees it. */
export type DeviceStatus = typeof DeviceStatus.Type

/** The devices in order of their ids, strictly after one. */
export const devices = operation({
  service: "metadata",
  name: "devices",
  request: Schema.Struct({ after: Schema.optionalKey(Schema.String), limit: limitOf(500) }),
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
  request: Schema.Struct({ after: Schema.optionalKey(Schema.String), limit: limitOf(500) }),
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
    limit: limitOf(1_000),
    reason: Schema.optionalKey(Schema.String)
  }),
  response: Schema.Struct({
    chunks: Schema.Array(TroubledChunk),
    next: Schema.optionalKey(ChunkKey)
  })
})
