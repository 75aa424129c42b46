/**
 * When safe mode is left, by this oracle's own count.
 *
 * | invariant | what must hold |
 * |---|---|
 * | safe-mode-early | before a life of the metadata service leaves safe mode, a device serves and every committed chunk has had a reported copy, all that time, for the extension |
 */
import { openDraft, type State, status } from "@holdfast/chunk-map"
import type { MetadataService } from "@holdfast/service-metadata"
import type { SimulatedCluster } from "../cluster/cluster.ts"
import { mapSettings } from "../cluster/settings.ts"
import type { Oracle } from "./oracle.ts"

/** Two looks: one before what is counted begins, one after it ends. */
const slackMillis = 500
const extensionMillis = mapSettings.extensionMs ?? 0

const isReported = (state: State): boolean => {
  const { chunks, devices } = status(openDraft(state, state.now))
  return devices.live + devices.stale > 0 && chunks.unknown + chunks.missing + chunks.corrupt === 0
}

/** Judges when safe mode is left. */
export const makeSafeModeOracle = (cluster: SimulatedCluster): Oracle => {
  const { report, time } = cluster.site
  let life: MetadataService | undefined
  let reportedSince: number | undefined
  let isLeft = false
  return {
    step: () => {
      const { service } = cluster.metadata
      if (service !== life) {
        life = service
        reportedSince = undefined
        isLeft = false
      }
      if (service === undefined || isLeft) return
      const now = time.nowMicros / 1_000
      const state = service.state()
      isLeft = state.safeMode.phase === "off"
      if (!isLeft) {
        reportedSince = isReported(state) ? (reportedSince ?? now) : undefined
        return
      }
      const millis = now - (reportedSince ?? now)
      if (millis >= extensionMillis - slackMillis) return
      report("safe-mode-early", `it is left ${millis} ms after every chunk was reported`)
    }
  }
}
