import { describe, expect, it } from "vitest"
import { free } from "./free.ts"
import { locate } from "./locate.ts"
import { status } from "./status.ts"
import { Cluster, succeed } from "./testing/cluster.ts"

const threeServers = () => {
  const cluster = new Cluster()
  cluster.addServer("h1", "a")
  cluster.addServer("h2", "b")
  cluster.addServer("h3", "c")
  return cluster.start()
}

const holders = (cluster: Cluster, chunk: { fileId: number; chunkId: number }) =>
  cluster.run((draft) => {
    const location = locate(draft, chunk)
    return location._tag === "Found" ? [...location.holders].sort() : location._tag
  })

describe("a chunk's life", () => {
  it("is written, located, repaired when a server dies, trimmed when it is back, freed", () => {
    const cluster = threeServers()
    const chunk = cluster.write(["a", "b"])
    expect(holders(cluster, chunk)).toEqual(["a", "b"])

    cluster.server("h2").alive = false
    cluster.rounds(100)
    expect(holders(cluster, chunk)).toEqual(["a", "c"])

    cluster.restartServer("h2")
    cluster.rounds(4)
    const after = holders(cluster, chunk)
    expect(after).toHaveLength(2)
    const copies = ["a", "b", "c"].map((name) => cluster.disk(name).copies.size)
    expect(copies.reduce((sum, count) => sum + count, 0)).toBe(2)

    const freed = cluster.run((draft) => free(draft, { requestId: null, chunks: [chunk] }))
    expect(succeed(freed)).toEqual(["freed"])
    cluster.rounds(3)
    expect(["a", "b", "c"].map((name) => cluster.disk(name).copies.size)).toEqual([0, 0, 0])
    const counts = cluster.run(status)
    expect(counts.pending).toMatchObject({ deletions: 0, copies: 0, reservations: 0, freed: 0 })
    expect(counts.chunks.known).toBe(0)
  })

  it("metadata-I15, metadata-B85: a restart gives the same chunks, and locations after the reports", () => {
    const cluster = threeServers()
    const chunks = [cluster.write(["a", "b"]), cluster.write(["b", "c"]), cluster.write(["a", "c"])]
    cluster.restartService()
    expect(holders(cluster, chunks[0]!)).toBe("NotReady")
    cluster.start()
    expect(chunks.map((chunk) => holders(cluster, chunk))).toEqual([
      ["a", "b"],
      ["b", "c"],
      ["a", "c"]
    ])
    expect(cluster.alarms).toEqual([])
  })
})
