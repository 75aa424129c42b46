/** What messages about chunks have in common. */
import { Schema } from "effect"
import { Count } from "./identifiers.ts"

/** How many copies a chunk is meant to have. */
export const Goal = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 15 }))

/** Names a chunk, whatever its version. */
export const ChunkKey = Schema.Struct({ fileId: Count, chunkId: Count })

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
