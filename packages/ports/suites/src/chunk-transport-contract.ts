/** What an adapter says of itself to the contract of the chunk data path. */
import type { ChunkEndpoint, ChunkTransport } from "@holdfast/storage"
import type { Layer } from "effect"

/** How to reach the adapter under test. */
export interface ChunkTransportContract {
  readonly name: string
  /** Both sides of one data path. */
  readonly layer: Layer.Layer<ChunkTransport | ChunkEndpoint, unknown>
  /** An address where nothing listens. */
  readonly deadUrl: string
  /** Bytes that may be on the way while the receiver does not take any. */
  readonly bytesAheadMax: number
}
