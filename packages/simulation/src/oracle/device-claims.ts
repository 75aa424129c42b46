/**
 * Who serves a device, and whether it is heard, against the signs of life that were answered.
 *
 * | invariant | what must hold |
 * |---|---|
 * | claimed-twice | of two hosts that claim a device at once, one at most is not refused |
 * | heard-not-live | a device that was heard within `staleAfterMs` is live, whatever clocks say |
 */
import { openDraft } from "@holdfast/chunk-map"
import type { SimulatedCluster } from "../cluster/cluster.ts"
import { mapSettings } from "../cluster/settings.ts"
import type { Heartbeat, HeartbeatAnswer } from "../cluster/watch.ts"
import type { Oracle } from "./oracle.ts"

interface Heard {
  readonly host: string
  readonly atMillis: number
}

const slackMillis = 1_000
const staleMillis = mapSettings.staleAfterMs ?? 0

/** Judges whose word on a device is taken. */
export const makeDeviceOracle = (cluster: SimulatedCluster): Oracle => {
  const heard = new Map<string, Heard>()
  const { report, time } = cluster.site
  const hear = (heartbeat: Heartbeat, { refused }: HeartbeatAnswer): void => {
    const now = time.nowMicros / 1_000
    for (const { deviceId } of heartbeat.devices) {
      const before = heard.get(deviceId)
      if (refused.some((one) => one.deviceId === deviceId)) {
        if (before?.host === heartbeat.hostId) heard.delete(deviceId)
        continue
      }
      const isElsewhere = before !== undefined && before.host !== heartbeat.hostId
      if (isElsewhere && now - before.atMillis < staleMillis - slackMillis) {
        report("claimed-twice", `${deviceId} is served by ${before.host} and ${heartbeat.hostId}`)
      }
      if (heartbeat.goodbye) heard.delete(deviceId)
      else heard.set(deviceId, { host: heartbeat.hostId, atMillis: now })
    }
  }
  return {
    watch: {
      heartbeatAnswered: hear,
      journalRecovered: () => heard.clear()
    },
    step: () => {
      const state = cluster.metadata.service?.state()
      if (state === undefined) return
      const now = time.nowMicros / 1_000
      const { devices } = openDraft(state, state.now)
      for (const [deviceId, { atMillis, host }] of heard) {
        const device = devices.get(deviceId)
        const isLate = now - atMillis >= staleMillis - slackMillis
        if (isLate || device?.liveness === "online" || device?.desired === "removed") continue
        report("heard-not-live", `${deviceId} of ${host} is ${device?.liveness ?? "unknown"}`)
      }
    }
  }
}
