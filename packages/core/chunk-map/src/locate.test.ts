import { expect, it } from "vitest"
import { locate } from "./locate.ts"
import { Cluster } from "./testing/cluster.ts"

const holders = (cluster: Cluster, key: { fileId: number; chunkId: number }, turn: number) => {
  const where = cluster.run((draft) => locate(draft, key, turn))
  return where._tag === "Found" ? [...where.holders] : []
}

it("readers are sent to each holder in turn, and to silent ones last", () => {
  const cluster = new Cluster()
  for (const name of ["a", "b", "c"]) cluster.addServer(`h${name}`, name)
  cluster.start()
  const chunk = cluster.write(["a", "b", "c"])
  const turns = [0, 1, 2, 3, 4].map((turn) => holders(cluster, chunk, turn))
  expect(turns.slice(3)).toEqual(turns.slice(0, 2))
  expect(
    turns
      .map((order) => order[0])
      .slice(0, 3)
      .toSorted()
  ).toEqual(["a", "b", "c"])
  for (const order of turns) expect(order.toSorted()).toEqual(["a", "b", "c"])
  cluster.server("hb").alive = false
  while (cluster.now < cluster.settings.staleAfterMs * 2) cluster.rounds(1)
  for (const turn of [0, 1, 2]) expect(holders(cluster, chunk, turn).at(-1)).toBe("b")
})
