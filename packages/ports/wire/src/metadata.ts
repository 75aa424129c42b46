/**
 * What clients ask of the metadata service, and with it what operators do
 * (`metadata-operators.ts`). Chunk servers speak to it through `metadata-chunk-servers.ts`. Error
 * codes stand with each operation.
 */
import { ChunkDescription, ChunkName, ChunkReceipt, ChunkTarget } from "@holdfast/storage"
import { Schema } from "effect"
import { ChunkHealth, ChunkKey, Goal } from "./chunk-schemas.ts"
import { Count, DeviceId } from "./identifiers.ts"
import { operation } from "./operation.ts"

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

/**
 * Where many chunks are; one result each, in order, for the first of them whose results fit one
 * message, at least one: ask for the others again.
 */
export const search = operation({
  service: "metadata",
  name: "search",
  request: Schema.Struct({ chunks: Batch(ChunkKey) }),
  response: Schema.Struct({ results: Schema.Array(SearchResult) })
})

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

export * from "./metadata-operators.ts"
export { ChunkHealth } from "./chunk-schemas.ts"
