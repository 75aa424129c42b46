import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import type { Authority } from "./index.ts"
import { Cluster, commandOf, stormyCommandOf } from "./testing/history.ts"
import { settleAfterStorm } from "./testing/settle.ts"

const numbers = fc.tuple(fc.nat(), fc.nat({ max: 1000 }), fc.nat({ max: 1000 }))
const histories = (max: number) =>
  fc.array(numbers.map(commandOf), { minLength: 5, maxLength: max })

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

describe("peer-P2 P3 P5: ejections, also such as contradict each other, deaths and cuts", () => {
  const storm = fc.array(numbers.map(stormyCommandOf), { minLength: 30, maxLength: 100 })
  const runs = Number(process.env["HOLDFAST_HISTORIES"] ?? 300)

  it.each<[Authority, ReadonlyArray<string>]>([
    ["majority", ["a", "b", "c"]],
    ["majority", ["a", "b", "c", "d", "e"]],
    ["cluster", ["a", "b", "c"]],
    ["cluster", ["a", "b", "c", "d"]]
  ])(
    "by %s, born to %j",
    (authority, founders) => {
      fc.assert(
        fc.property(storm, fc.boolean(), (commands, isProvisional) => {
          const cluster = new Cluster(founders, { authority, isProvisional })
          for (const each of commands) cluster.run(each)
          settleAfterStorm(cluster, authority)
        }),
        { numRuns: runs }
      )
    },
    600_000
  )
})
