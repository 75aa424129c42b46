import { expect, it } from "vitest"
import { locate } from "./locate.ts"
import { repack } from "./repack.ts"
import { Cluster } from "./testing/cluster.ts"

it("repacked, all is where it was, and the state before stays as it was", () => {
  const cluster = new Cluster()
  for (const name of ["a", "b", "c"]) cluster.addServer(`h${name}`, name)
  cluster.start()
  const sets = [
    ["a", "b"],
    ["b", "c"],
    ["a", "c"],
    ["a", "b", "c"]
  ]
  const chunks = sets.map((on) => cluster.write(on))
  for (let restart = 0; restart < 5; restart++) {
    cluster.restartServer("ha")
    cluster.rounds(2)
  }
  const holders = () =>
    chunks.map((chunk) => {
      const where = cluster.run((draft) => locate(draft, chunk))
      return where._tag === "Found" ? [...where.holders].sort().join("") : where._tag
    })
  const before = cluster.state
  const found = holders()
  cluster.run(repack)
  expect(holders()).toEqual(found)
  expect(cluster.state.sets.size).toBeLessThan(before.sets.size)
  cluster.rounds(3)
  expect(holders()).toEqual(found)
  const after = cluster.state
  cluster.state = before
  expect(holders()).toEqual(found)
  cluster.state = after
})
