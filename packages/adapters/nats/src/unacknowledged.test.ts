import { describe, expect, it } from "vitest"
import fc from "fast-check"
import { type Delivery, Unacknowledged } from "./unacknowledged.ts"

const step = fc.oneof(
  fc.record({ do: fc.constant("add" as const), gap: fc.integer({ min: 1, max: 3 }) }),
  fc.record({ do: fc.constant("again" as const), pick: fc.nat(20) }),
  fc.record({ do: fc.constant("forget" as const), position: fc.nat(4_000) }),
  fc.record({ do: fc.constant("clear" as const) })
)

describe("deliveries that wait for an acknowledgement", () => {
  it("are those of a sorted list, whatever is added, repeated and forgotten", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), fc.nat(4_000), (steps, asked) => {
        const deliveries = new Unacknowledged()
        let model: Array<Delivery> = []
        let newest = 0
        for (const [at, one] of steps.entries()) {
          const numbers = { order: at + 1, deliveries: 1 + (at % 3) }
          switch (one.do) {
            case "add":
              newest += one.gap
              deliveries.add({ position: newest, ...numbers })
              model.push({ position: newest, ...numbers })
              break
            case "again": {
              const known = model[one.pick]
              if (known === undefined) break
              deliveries.add({ position: known.position, ...numbers })
              model = model.map((each) => (each === known ? { ...each, ...numbers } : each))
              break
            }
            case "forget":
              deliveries.forgetUpTo(one.position)
              model = model.filter(({ position }) => position > one.position)
              break
            case "clear":
              deliveries.clear()
              model = []
          }
        }
        expect(deliveries.all()).toEqual(model)
        expect(deliveries.size).toBe(model.length)
        expect(deliveries.newestUpTo(asked)).toEqual(
          model.findLast(({ position }) => position <= asked)
        )
      })
    )
  })
})
