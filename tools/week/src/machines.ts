/** The services of the week as commands, with times so short that a week fits minutes. */
import type { Site } from "./site.ts"

const mapTimes = ["--safe-mode-extension-ms", "0", "--repair-delay-ms", "0", "--free-mib", "16"]
const mapDeaths = ["--stale-after-ms", "4000", "--dead-after-ms", "8000"]

/** The peers that found the cluster. */
export const founders = ["p1", "p2", "p3"]

/** Starts a chunk server with a new device. */
export const addHost = (site: Site, id: string, device: string): Promise<void> => {
  const place = ["--data", site.path(id), "--format", "--device", site.path("devices", device)]
  return site.start(id, [
    "chunk-server",
    ...site.keyFlags,
    "--id",
    id,
    ...place,
    "--reserved-mib",
    "16"
  ])
}

/** Starts a peer, as a founder or to join. */
export const addPeer = (site: Site, id: string, how: ReadonlyArray<string>): Promise<void> =>
  site.start(id, ["peer", "--id", id, "--data", site.path(id), ...how])

/** Starts a worker. */
export const addWorker = (site: Site, id: string): Promise<void> => {
  const quick = ["--lease-term-ms", "5000", "--checkpoint-interval-ms", "500"]
  return site.start(id, ["worker", "--id", id, ...quick, "--discovery-interval-ms", "500"])
}

/** One metadata service, three machines with a device each, three peers, two workers. */
export const startCluster = async (site: Site): Promise<void> => {
  const data = ["--data", site.path("metadata")]
  await site.start("metadata", ["metadata", ...site.keyFlags, ...data, ...mapTimes, ...mapDeaths])
  for (const number of [1, 2, 3]) await addHost(site, `h${number}`, `d${number}`)
  for (const id of founders) await addPeer(site, id, ["--peers", founders.join(",")])
  for (const id of ["w1", "w2"]) await addWorker(site, id)
}
