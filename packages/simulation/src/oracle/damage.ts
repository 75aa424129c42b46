/**
 * Damage that a start must find: it refuses, and never guesses.
 *
 * | invariant | what must hold |
 * |---|---|
 * | damage-guessed | while its journal is damaged no metadata service comes up; a device whose identity is damaged is not served |
 */
import type { SimulatedCluster } from "../cluster/cluster.ts"
import type { Oracle } from "./oracle.ts"

/** Judges what is served on damaged disks. */
export const makeDamageOracle = ({ metadata, site }: SimulatedCluster): Oracle => ({
  watch: {
    heartbeatAnswered: ({ devices, hostId, incarnation }, { refused }) => {
      for (const { deviceId } of devices) {
        const damage = site.damaged.get(deviceId)
        // What was said before the damage may still be on its way, to a service that stands still.
        const isSaidSince = damage !== undefined && incarnation > damage.startsBefore
        if (!isSaidSince || refused.some((one) => one.deviceId === deviceId)) continue
        site.report("damage-guessed", `${hostId} serves ${deviceId}, whose identity is damaged`)
      }
    }
  },
  step: () => {
    if (metadata.isUp && site.damaged.has(metadata.name)) {
      site.report("damage-guessed", "the metadata service has come up on a damaged journal")
    }
  }
})
