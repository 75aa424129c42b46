/** What a chunk server that runs says of itself; its gauges it keeps up to date itself. */
import type { Messaging } from "@holdfast/messaging"
import { missingAnswers, type Observations, probe } from "@holdfast/process"
import {
  ChunkServerOperations,
  type ClusterId,
  type HostId,
  MetadataOperations
} from "@holdfast/wire"
import { type Context, Effect } from "effect"

const askSelf = probe(ChunkServerOperations.chunkServerStatus)
const askMetadata = probe(MetadataOperations.status)

/** It is ready when it answers and a metadata service is there to be told of its copies. */
export const observeChunkServer = (options: {
  readonly cluster: ClusterId
  readonly host: HostId
  readonly context: Context.Context<Messaging>
}): Observations => {
  const { cluster, context, host } = options
  return {
    missing: missingAnswers({
      [`chunk server ${host} does not answer`]: askSelf({ cluster, instance: host, request: {} }),
      "no metadata service answers": askMetadata({ cluster, request: {} })
    }).pipe(Effect.provide(context)),
    collect: Effect.void
  }
}
