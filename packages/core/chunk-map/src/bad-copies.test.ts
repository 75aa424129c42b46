import { describe, expect, it } from "vitest"
import { locate } from "./locate.ts"
import { abandon } from "./publish.ts"
import { Cluster, succeed } from "./testing/cluster.ts"
import { nameOf } from "./testing/disks.ts"

const setUp = (names: ReadonlyArray<string>) => {
  const cluster = new Cluster()
  for (const name of names) cluster.addServer(`h${name}`, name)
  return cluster.start()
}

const holders = (cluster: Cluster, chunk: { fileId: number; chunkId: number }) => {
  const where = cluster.run((draft) => locate(draft, chunk))
  return where._tag === "Found" ? [...where.holders].sort().join("") : where._tag
}

/** A chunk on a and b, of which a found its own copy to be bad. */
const withBadCopy = (names: ReadonlyArray<string> = ["a", "b"]) => {
  const cluster = setUp(names)
  const chunk = cluster.write(["a", "b"])
  const rewrite = succeed(cluster.alloc(chunk.fileId, { chunkId: chunk.chunkId }))
  const tellBad = () => {
    cluster.server("ha").changes.push({ _tag: "Bad", deviceId: "a", epoch: 1, chunk })
    succeed(cluster.sign("ha"))
  }
  tellBad()
  expect(holders(cluster, chunk)).toBe("b")
  return { chunk, cluster, rewrite }
}

describe("metadata-I6: a copy that was found bad counts for nothing until it is another one", () => {
  it("whatever becomes of a lease on its chunk", () => {
    const { chunk, cluster, rewrite } = withBadCopy()
    cluster.run((draft) => abandon(draft, rewrite))
    expect(holders(cluster, chunk)).toBe("b")
    expect(cluster.alarms.filter(({ kind }) => kind === "corrupt-copy")).toHaveLength(1)
  })

  it("whatever its device says of its name once more", () => {
    const { chunk, cluster } = withBadCopy()
    cluster.server("ha").changes.push({ _tag: "Added", deviceId: "a", epoch: 1, chunk })
    succeed(cluster.sign("ha"))
    expect(holders(cluster, chunk)).toBe("b")
  })

  it("when its deletion is taken back, because no good copy is left", () => {
    const { chunk, cluster } = withBadCopy()
    cluster.server("ha").holdCommands = true
    cluster.pass(10)
    expect(cluster.state.deletions.size).toBe(1)
    cluster.server("hb").alive = false
    cluster.server("hb").disks[0]?.copies.clear()
    succeed(cluster.sign("hb", true))
    cluster.beat("ha")
    expect(cluster.server("ha").held).toEqual([])
    expect(holders(cluster, chunk)).toBe("NotReady")
  })

  it("once it is gone, a copy made anew there counts", () => {
    const { chunk, cluster, rewrite } = withBadCopy()
    cluster.run((draft) => abandon(draft, rewrite))
    cluster.rounds(8)
    expect(holders(cluster, chunk)).toBe("ab")
    expect(cluster.disk("a").copies.has(nameOf(chunk))).toBe(true)
  })
})
