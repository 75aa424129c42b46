/** The pass over all chunks: bounded in each tick, whatever there is to do, and never stuck. */
import { describe, expect, it } from "vitest"
import { mapEntries } from "./ordered-map.ts"
import { setMode } from "./modes.ts"
import { status } from "./status.ts"
import { Cluster, succeed } from "./testing/cluster.ts"

const chunks = 40
/** One tick looks at so many verdicts, which is as much as three chunks that are attended to. */
const sweepChunks = 48

const setUp = () => {
  const cluster = new Cluster({ sweepChunks, copiesInMax: 100, copiesOutMax: 100 })
  for (const name of ["a", "b", "c"]) cluster.addServer(`h${name}`, name)
  cluster.start()
  const fileId = cluster.file()
  for (let index = 0; index < chunks; index++) cluster.write(["a", "b"], { fileId })
  return cluster
}

const found = (cluster: Cluster): number =>
  new Set([...mapEntries(cluster.state.copyJobs)].map(([, { chunkId }]) => chunkId)).size

describe("metadata-W7: the sweep", () => {
  it("attends to a few chunks a tick, and comes to all of them", () => {
    const cluster = setUp()
    succeed(cluster.sign("ha", true))
    cluster.server("ha").alive = false
    let before = 0
    for (let ticks = 0; ticks < chunks; ticks++) {
      cluster.pass(10)
      expect(found(cluster) - before).toBeLessThanOrEqual(3)
      before = found(cluster)
    }
    expect(before).toBe(chunks)
    cluster.rounds(3)
    expect(cluster.run(status).chunks).toMatchObject({ atGoal: chunks })
  })

  it("passes over chunks of a report under way as over those that are as they should be", () => {
    const cluster = setUp()
    cluster.restartServer("ha")
    succeed(cluster.sign("ha"))
    const passes = cluster.state.sweepPasses
    for (let ticks = 0; ticks < 10; ticks++) cluster.pass(10)
    expect(cluster.state.sweepPasses - passes).toBeGreaterThanOrEqual(9)
    expect(found(cluster)).toBe(0)
  })

  it("counts every chunk that needs a draining device, also those that it cannot help", () => {
    const cluster = setUp()
    cluster.server("hc").alive = false
    cluster.rounds(120)
    succeed(cluster.run((draft) => setMode(draft, { deviceId: "a", desired: "draining" })))
    cluster.rounds(3 * Math.ceil(chunks / 3))
    const [device] = [...mapEntries(cluster.state.devices)].map(([, one]) => one)
    expect(cluster.state.drainBlocked.get(device?.index ?? -1)).toBe(chunks)
  })
})
