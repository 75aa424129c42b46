/** What a metadata service that runs says of itself. */
import type { Messaging } from "@holdfast/messaging"
import { missingTransport, type Observations, probe } from "@holdfast/process"
import { type ClusterId, MetadataOperations } from "@holdfast/wire"
import { type Context, Effect, Option } from "effect"

const askStatus = probe(MetadataOperations.status)

const missingOf = Effect.fnUntraced(function* (cluster: ClusterId) {
  const broken = yield* missingTransport
  if (broken.length > 0) return broken
  const status = yield* askStatus({ cluster, request: {} })
  if (Option.isNone(status)) return ["the metadata service does not answer"]
  const { phase, tip } = status.value.safeMode
  return phase === "off" ? [] : [`safe mode is on, no chunk is allocated: ${tip}`]
})

/** It is ready when it answers and allocates chunks; its gauges it keeps up to date itself. */
export const observeMetadata = (
  cluster: ClusterId,
  context: Context.Context<Messaging>
): Observations => ({
  missing: Effect.provide(missingOf(cluster), context),
  collect: Effect.void
})
