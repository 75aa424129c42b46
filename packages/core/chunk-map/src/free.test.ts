import { expect, it } from "vitest"
import { free } from "./free.ts"
import { Cluster, codeOf, succeed } from "./testing/cluster.ts"

it("metadata-B38: a device that never comes back does not fill the list of freed", () => {
  const cluster = new Cluster({ freedMax: 20 })
  for (const name of ["a", "b", "c"]) cluster.addServer(`h${name}`, name)
  cluster.start()
  cluster.server("hc").alive = false
  cluster.rounds(100)
  const fileId = cluster.file()
  for (let round = 0; round < 10; round++) {
    const chunks = Array.from({ length: 5 }, () => cluster.write(["a", "b"], { fileId }))
    const freed = cluster.run((draft) => free(draft, { requestId: null, chunks }))
    expect(succeed(freed)).toEqual(chunks.map(() => "freed"))
    cluster.rounds(3)
  }
  expect(cluster.state.freed.size).toBeLessThanOrEqual(20)
  for (const host of ["ha", "hb"]) cluster.server(host).holdCommands = true
  const chunks = Array.from({ length: 21 }, () => cluster.write(["a", "b"], { fileId }))
  const outcome = cluster.run((draft) => free(draft, { requestId: null, chunks }))
  expect(codeOf(outcome)).toBe("overloaded")
})

it("metadata-B15: a copy that a report under way has named goes once, with that report", () => {
  const cluster = new Cluster({ reportPartMax: 2 })
  for (const name of ["a", "b"]) cluster.addServer(`h${name}`, name)
  cluster.start()
  const fileId = cluster.file()
  const [first] = Array.from({ length: 4 }, () => cluster.write(["a", "b"], { fileId }))
  if (first === undefined) throw new Error("nothing was written")
  cluster.beginReport("ha")
  // Each change is followed by a recount of what every device holds.
  succeed(cluster.run((draft) => free(draft, { requestId: null, chunks: [first] })))
  cluster.rounds(60)
  expect([cluster.disk("a").copies.size, cluster.disk("b").copies.size]).toEqual([3, 3])
  expect(cluster.state.freed.size).toBe(0)
})
