/** A server that stops in order says so: what it leaves with one copy is repaired at once. */
import { describe, expect, it } from "vitest"
import { mapEntries } from "./ordered-map.ts"
import { status } from "./status.ts"
import { Cluster, succeed } from "./testing/cluster.ts"

const setUp = () => {
  const cluster = new Cluster({ staleAfterMs: 15_000, deadAfterMs: 90_000 })
  for (const name of ["a", "b", "c", "d"]) cluster.addServer(`h${name}`, name)
  return cluster.start()
}

const stop = (cluster: Cluster, host: string): void => {
  succeed(cluster.sign(host, true))
  cluster.server(host).alive = false
}

/** The chunks that are being copied, by their numbers. */
const copied = (cluster: Cluster): ReadonlyArray<number> => {
  const chunkIds = [...mapEntries(cluster.state.copyJobs)].map(([, job]) => job.chunkId)
  return [...new Set(chunkIds)].toSorted((left, right) => left - right)
}

describe("metadata-B50: after a goodbye", () => {
  it("single copies are repaired at once, others when the server stays away", () => {
    const cluster = setUp()
    const fileId = cluster.file()
    const single = cluster.write(["a", "b"], { fileId })
    const others = cluster.write(["a", "b", "c"], { fileId })
    stop(cluster, "ha")
    cluster.pass(10)
    expect(copied(cluster)).toEqual([single.chunkId])
    cluster.rounds(20)
    expect(cluster.run(status).chunks).toMatchObject({ atGoal: 1, belowGoal: 1 })
    expect(copied(cluster)).toEqual([])
    cluster.rounds(80)
    expect(cluster.run(status).chunks).toMatchObject({ atGoal: 2, belowGoal: 0 })
    expect(others.chunkId).not.toBe(single.chunkId)
  })

  it("a copy too many goes when the server is back", () => {
    const cluster = setUp()
    cluster.write(["a", "b"])
    stop(cluster, "ha")
    cluster.rounds(5)
    cluster.restartServer("ha")
    cluster.rounds(10)
    expect(cluster.run(status).chunks).toMatchObject({ atGoal: 1, surplus: 0 })
    const copies = ["a", "b", "c", "d"].map((name) => cluster.disk(name).copies.size)
    expect(copies.reduce((sum, size) => sum + size, 0)).toBe(2)
  })

  it("a server that was started again in the meantime is waited for, and nothing is copied", () => {
    const cluster = setUp()
    cluster.write(["a", "b"])
    stop(cluster, "ha")
    cluster.restartServer("ha")
    succeed(cluster.sign("ha"))
    cluster.pass(10)
    expect(copied(cluster)).toEqual([])
  })

  it("silence alone is no goodbye: a server that was killed is waited for", () => {
    const cluster = setUp()
    cluster.write(["a", "b"])
    cluster.server("ha").alive = false
    cluster.rounds(20)
    expect(copied(cluster)).toEqual([])
  })
})
