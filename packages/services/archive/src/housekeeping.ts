/**
 * What each worker that archives does beside its pipeline, however many workers there are: to end a
 * segment, or to give up a put, twice changes nothing.
 */
import type { ArchiveClient, FileClient, MetadataClient } from "@holdfast/client"
import { Layer } from "effect"
import { idlePutsLayer, type IdlePutsOptions } from "./idle-puts.ts"
import { retentionLayer } from "./retention.ts"

/** Applies retention, and gives up puts that stand still, until the scope closes. */
export const housekeepingLayer = (
  options: Pick<IdlePutsOptions, "idleFor"> = {}
): Layer.Layer<never, never, ArchiveClient | FileClient | MetadataClient> =>
  Layer.merge(retentionLayer(), idlePutsLayer(options))
