import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { Lanes } from "./lanes.ts"

interface Item {
  readonly key: string | undefined
  readonly ordinal: number
  readonly index: number
}

const script = fc.array(
  fc.oneof(
    fc.record({ do: fc.constant("add" as const), key: fc.constantFrom("a", "b", undefined) }),
    fc.record({ do: fc.constant("take" as const), key: fc.constant(undefined) }),
    fc.record({
      do: fc.constantFrom("succeed" as const, "fail" as const, "again" as const, "lay" as const),
      pick: fc.nat(9)
    })
  ),
  { maxLength: 200 }
)

describe("lanes", () => {
  it("keep one item of a key at work, in order, and lose none, whatever fails", () => {
    fc.assert(
      fc.property(script, (steps) => {
        const lanes = new Lanes<Item>()
        const working: Array<Item> = []
        const failed: Array<Item> = []
        const finished: Array<Item> = []
        let next = 0
        const start = (): void => {
          const item = lanes.take()
          if (item === undefined) return
          if (item.key !== undefined) {
            const others = [...working, ...failed].filter(({ key }) => key === item.key)
            expect(others).toEqual([])
          }
          working.push(item)
        }
        const pickFrom = (items: Array<Item>, pick: number): Item | undefined =>
          items.splice(pick % Math.max(1, items.length), 1)[0]
        const succeed = (item: Item | undefined): void => {
          if (item === undefined) return
          lanes.succeed(item)
          finished.push(item)
        }
        for (const step of steps) {
          if (step.do === "add") lanes.add({ key: step.key, ordinal: next++, index: 0 })
          else if (step.do === "take") start()
          else if (step.do === "succeed") succeed(pickFrom(working, step.pick))
          else if (step.do === "fail") {
            const item = pickFrom(working, step.pick)
            if (item !== undefined) {
              lanes.fail(item)
              failed.push(item)
            }
          } else {
            const item = pickFrom(failed, step.pick)
            if (item === undefined) continue
            if (step.do === "again") lanes.add(item)
            else {
              lanes.giveUp(item.ordinal)
              finished.push(item)
            }
          }
        }
        for (const item of failed.splice(0)) lanes.add(item)
        for (let round = 0; round < 2 * next + 2; round++) {
          start()
          succeed(working.shift())
        }
        expect(lanes.size).toBe(0)
        expect(finished.length).toBe(next)
        for (const key of ["a", "b"]) {
          const order = finished.filter((item) => item.key === key).map(({ ordinal }) => ordinal)
          expect(order).toEqual([...order].sort((one, other) => one - other))
        }
      })
    )
  })
})
