/** Asks the metadata service for hosts, chunks and what keeps a drain, page after page. */
import type { Messaging } from "@holdfast/messaging"
import { numberFlag } from "@holdfast/process"
import { type CallError, type DeviceId, MetadataOperations } from "@holdfast/wire"
import { Effect } from "effect"
import { ask } from "./ask.ts"

const page = 500

const askHosts = ask(MetadataOperations.hosts)
const askTroubled = ask(MetadataOperations.troubledChunks)
const askBlockers = ask(MetadataOperations.drainBlockers)

type ChunkKey = typeof MetadataOperations.inspectChunk.request.Type

/** One host as the metadata service sees it. */
export type HostStatusView = MetadataOperations.HostStatus

/** All hosts in order of their ids. */
export const hostsOf = Effect.fnUntraced(function* (
  cluster: string
): Effect.fn.Return<ReadonlyArray<HostStatusView>, CallError, Messaging> {
  const found: Array<HostStatusView> = []
  for (;;) {
    const last = found.at(-1)?.hostId
    const request = last === undefined ? { limit: page } : { limit: page, after: last }
    const { hosts, more } = yield* askHosts({ cluster, request })
    found.push(...hosts)
    if (!more || hosts.length === 0) return found
  }
})

/** One chunk with all that is known of its copies. */
export const chunkOf = ask(MetadataOperations.inspectChunk)

/** How many chunks a list shows at most. */
export const chunkLimitFlag = numberFlag({
  name: "limit",
  description: "Chunks to show at most",
  value: 100,
  least: 1,
  most: 1_000_000
})

/** The first ones of a list, and whether there are more. */
export interface First<A> {
  readonly found: ReadonlyArray<A>
  readonly more: boolean
}

/** Asks for pages until there are `limit` items or no more; a page may be empty. */
const firstOf = Effect.fnUntraced(function* <A>(
  limit: number,
  ask: (
    after: ChunkKey | undefined
  ) => Effect.Effect<
    { readonly items: ReadonlyArray<A>; readonly next: ChunkKey | undefined },
    CallError,
    Messaging
  >
): Effect.fn.Return<First<A>, CallError, Messaging> {
  const found: Array<A> = []
  let after: ChunkKey | undefined
  for (;;) {
    const { items, next } = yield* ask(after)
    found.push(...items)
    after = next
    if (after === undefined || found.length >= limit) {
      return { found: found.slice(0, limit), more: after !== undefined || found.length > limit }
    }
  }
})

/** A chunk that is not held as it is meant to be. */
export type TroubledChunkView = MetadataOperations.TroubledChunk

/** The first chunks that are not held as they are meant to be, all of them or those of a reason. */
export const troubledOf = (options: {
  readonly cluster: string
  readonly reason: string | undefined
  readonly limit: number
}): Effect.Effect<First<TroubledChunkView>, CallError, Messaging> => {
  const { cluster, limit, reason } = options
  return firstOf(limit, (after) => {
    const request = {
      limit: Math.min(page, limit),
      ...(reason === undefined ? {} : { reason }),
      ...(after === undefined ? {} : { after })
    }
    return Effect.map(askTroubled({ cluster, request }), ({ chunks, next }) => ({
      items: chunks,
      next
    }))
  })
}

/** A chunk that keeps a draining device. */
export type DrainBlockerView = MetadataOperations.DrainBlocker

/** The first chunks that keep a draining device. */
export const blockersOf = (options: {
  readonly cluster: string
  readonly deviceId: DeviceId
  readonly limit: number
}): Effect.Effect<First<DrainBlockerView>, CallError, Messaging> => {
  const { cluster, deviceId, limit } = options
  return firstOf(limit, (after) => {
    const asked = { deviceId, limit: Math.min(page, limit) }
    const request = after === undefined ? asked : { ...asked, after }
    return Effect.map(askBlockers({ cluster, request }), ({ blockers, next }) => ({
      items: blockers,
      next
    }))
  })
}
