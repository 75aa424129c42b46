/** Where chunks were a moment ago: what `locate` answered, kept for a short time. */
import type { MetadataOperations } from "@holdfast/wire"
import { Clock, Effect } from "effect"
import type { CallFailed } from "./errors.ts"
import type { MetadataClient } from "./metadata-client.ts"

const entriesMax = 4_096
/** Shorter than a capability lives. */
const ageMaxNanos = 20_000_000_000n

interface Entry {
  readonly location: MetadataOperations.ChunkLocation
  readonly since: bigint
}

/** A bounded cache of locations over the metadata client; the oldest entry goes first. */
export const makeLocationCache = (metadata: MetadataClient["Service"]) => {
  const entries = new Map<string, Entry>()
  const keyOf = (chunk: { readonly fileId: number; readonly chunkId: number }): string =>
    `${chunk.fileId}/${chunk.chunkId}`

  const locate = Effect.fnUntraced(function* (chunk: {
    readonly fileId: number
    readonly chunkId: number
    readonly version: number
  }): Effect.fn.Return<MetadataOperations.ChunkLocation, CallFailed> {
    const key = keyOf(chunk)
    const now = yield* Clock.monotonicTimeNanos
    const known = entries.get(key)
    if (
      known !== undefined &&
      now - known.since < ageMaxNanos &&
      known.location.chunk.version === chunk.version
    ) {
      return known.location
    }
    const location = yield* metadata.locate(chunk)
    entries.delete(key)
    entries.set(key, { location, since: now })
    if (entries.size > entriesMax) {
      const oldest = entries.keys().next()
      if (oldest.done !== true) entries.delete(oldest.value)
    }
    return location
  })

  return {
    locate,
    forget: (chunk: { readonly fileId: number; readonly chunkId: number }): void => {
      entries.delete(keyOf(chunk))
    }
  }
}
