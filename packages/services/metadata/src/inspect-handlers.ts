/** What operators look into: hosts, one chunk with its copies, chunks with a reason. */
import { inspectChunk, listHosts, troubledChunks, type HostView } from "@holdfast/chunk-map"
import type { MetadataOperations, RequestContext } from "@holdfast/wire"
import { Result } from "effect"
import { describe, waitOf } from "./client-handlers.ts"
import type { Engine } from "./engine.ts"

const sumOf = (values: ReadonlyArray<number>): number =>
  values.reduce((sum, value) => sum + value, 0)

const viewOf = ({ host, live, lastHeardMs, devices, copies }: HostView) => {
  const { hostId, url, rack, incarnation } = host
  return {
    hostId,
    url,
    ...(rack === "" ? {} : { rack }),
    incarnation,
    live,
    lastHeardMs: Math.max(0, Math.floor(lastHeardMs)),
    devices: devices.length,
    capacity: sumOf(devices.map(({ capacity }) => capacity)),
    used: sumOf(devices.map(({ used }) => used)),
    available: sumOf(devices.map(({ available }) => available)),
    copies
  }
}

/** The handlers of what operators look into. */
export const inspectHandlers = (engine: Engine) => ({
  hosts: (request: typeof MetadataOperations.hosts.request.Type, context: RequestContext) =>
    engine.submit((draft) => {
      const page = { after: request.after ?? null, limit: request.limit }
      const { hosts, more } = listHosts(draft, page)
      return Result.succeed({ hosts: hosts.map(viewOf), more })
    }, waitOf(context)),

  inspectChunk: (
    request: typeof MetadataOperations.inspectChunk.request.Type,
    context: RequestContext
  ) =>
    engine.submit((draft) => {
      const { record, health, reason, sentence, copies } = inspectChunk(draft, request)
      return Result.succeed({
        ...(record === undefined ? {} : { chunk: describe(record), goal: record.goal }),
        ...(health === undefined ? {} : { health }),
        ...(reason === undefined ? {} : { reason, sentence }),
        copies: copies.map(({ deviceId, hostId, version, state }) => ({
          deviceId,
          hostId: hostId ?? "",
          version,
          state
        }))
      })
    }, waitOf(context)),

  troubledChunks: (
    request: typeof MetadataOperations.troubledChunks.request.Type,
    context: RequestContext
  ) =>
    engine.submit((draft) => {
      const { after, limit, reason } = request
      const wanted = { after: after ?? null, limit, reason: reason ?? null }
      const { found, next } = troubledChunks(draft, wanted)
      return Result.succeed({
        chunks: found.map(({ record, copies, reason: why, sentence }) => ({
          chunk: describe(record),
          goal: record.goal,
          copies,
          reason: why,
          sentence
        })),
        ...(next === null ? {} : { next })
      })
    }, waitOf(context))
})
