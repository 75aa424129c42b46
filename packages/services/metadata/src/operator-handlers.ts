/** What operators ask: modes of devices, safe mode, status. */
import {
  drainBlockers,
  forgetDevice,
  listDevices,
  setMode,
  setSafeMode,
  status,
  type DesiredMode,
  type DeviceView
} from "@holdfast/chunk-map"
import type { DeviceId, MetadataOperations, RequestContext } from "@holdfast/wire"
import { Result } from "effect"
import { waitOf } from "./client-handlers.ts"
import type { Engine } from "./engine.ts"
import { refused } from "./refusals.ts"

const VIOLATIONS_SHOWN = 20

const viewOf = (view: DeviceView): MetadataOperations.DeviceStatus => {
  const { device, state, url, committed, copies, pendingDeletions, lastHeardMs } = view
  const { deviceId, hostId, rack, desired, epoch, capacity, used, available } = device
  return {
    deviceId,
    hostId: hostId ?? "",
    url,
    state,
    mode: desired,
    epoch,
    capacity,
    used,
    available,
    committed,
    copies,
    pendingDeletions,
    lastHeardMs: Math.max(0, Math.floor(lastHeardMs)),
    ...(rack === "" ? {} : { rack }),
    ...(view.blocked === null ? {} : { blocked: view.blocked }),
    ...(view.openWrites === null ? {} : { openWrites: view.openWrites })
  }
}

/** The handlers of what operators ask. */
export const operatorHandlers = (engine: Engine) => {
  const setTo =
    (desired: DesiredMode) =>
    ({ deviceId }: { readonly deviceId: DeviceId }, context: RequestContext) =>
      engine.submit(
        (draft) => Result.mapError(setMode(draft, { deviceId, desired }), refused),
        waitOf(context)
      )
  return {
    offline: setTo("removed"),
    freeze: setTo("frozen"),
    thaw: setTo("normal"),
    drain: setTo("draining"),

    drainBlockers: (
      request: typeof MetadataOperations.drainBlockers.request.Type,
      context: RequestContext
    ) =>
      engine.submit((draft) => {
        const { deviceId, after, limit } = request
        const page = drainBlockers(draft, { deviceId, after: after ?? null, limit })
        return Result.map(Result.mapError(page, refused), ({ blockers, next }) => ({
          blockers: blockers.map(({ reason, sentence, ...chunk }) => ({ chunk, reason, sentence })),
          ...(next === null ? {} : { next })
        }))
      }, waitOf(context)),

    remove: ({ deviceId }: { readonly deviceId: DeviceId }, context: RequestContext) =>
      engine.submit(
        (draft) =>
          Result.map(Result.mapError(forgetDevice(draft, { deviceId }), refused), () => ({})),
        waitOf(context)
      ),

    safeMode: (request: typeof MetadataOperations.safeMode.request.Type, context: RequestContext) =>
      engine.submit(
        (draft) =>
          Result.map(Result.mapError(setSafeMode(draft, request), refused), ({ tip }) => ({ tip })),
        waitOf(context)
      ),

    status: (_request: object, context: RequestContext) =>
      engine.submit((draft) => {
        const { safeMode, chunks, devices, hosts, pending, repair } = status(draft)
        const oldestDeletionMs = Math.floor(pending.oldestDeletionMs)
        const violations = engine
          .violations()
          .slice(0, VIOLATIONS_SHOWN)
          .map(({ rule, message }) => `${rule}: ${message}`)
        return Result.succeed({
          clusterId: engine.options.clusterId,
          safeMode: { phase: safeMode.phase, tip: safeMode.tip },
          chunks,
          devices,
          hosts,
          pending: { ...pending, oldestDeletionMs },
          repair: {
            onlyCopy: repair["only-copy"],
            veryLow: repair["very-low"],
            low: repair.low,
            badlySpread: repair["badly-spread"]
          },
          violations
        })
      }, waitOf(context)),

    devices: (request: typeof MetadataOperations.devices.request.Type, context: RequestContext) =>
      engine.submit((draft) => {
        const page = { after: request.after ?? null, limit: request.limit }
        const { devices, more } = listDevices(draft, page)
        return Result.succeed({ devices: devices.map(viewOf), more })
      }, waitOf(context))
  }
}
