import * as fc from "fast-check"
import { expect, it } from "vitest"
import { Cluster, commandOf } from "./testing/history.ts"

const command = fc.tuple(fc.nat(), fc.nat({ max: 1000 }), fc.nat({ max: 1000 })).map(commandOf)
const histories = (max: number) => fc.array(command, { minLength: 5, maxLength: max })

const settle = (cluster: Cluster): void => {
  cluster.heal()
  const live = cluster.live()
  const [first, ...others] = live.map((each) => cluster.summary(each))
  for (const other of others) expect(other).toEqual(first)
  if (first !== undefined) {
    expect(first.pending).toBe(0)
    expect([...first.value].sort()).toEqual([...cluster.written].sort())
    for (const [id, output] of cluster.outputs) {
      expect(first.value[output.output], id).toBe(output.request)
    }
  }
}

it("peer-P2 P4 P5 P6: whatever was lost, repeated, reordered or crashed, replicas end equal", () => {
  fc.assert(
    fc.property(histories(60), (commands) => {
      const cluster = new Cluster(["a", "b", "c"])
      for (const each of commands) cluster.run(each)
      settle(cluster)
    }),
    { numRuns: 400 }
  )
})

it("peer-P2: two founders and long histories", () => {
  fc.assert(
    fc.property(histories(150), (commands) => {
      const cluster = new Cluster(["a", "b"])
      for (const each of commands) cluster.run(each)
      settle(cluster)
    }),
    { numRuns: 100 }
  )
})
