import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { emptyMap, MapEdit, mapEntries, mapGet, type OrderedMap } from "./ordered-map.ts"

const change = fc.record({
  key: fc.integer({ min: 0, max: 300 }),
  value: fc.integer(),
  removes: fc.boolean()
})

describe("ordered map", () => {
  it("equals a sorted map after any batches of edits, and old maps stay as they were", () => {
    fc.assert(
      fc.property(fc.array(fc.array(change, { maxLength: 150 }), { maxLength: 5 }), (batches) => {
        let map: OrderedMap<number, number> = emptyMap((left, right) => left - right)
        const model = new Map<number, number>()
        for (const batch of batches) {
          const before = [...mapEntries(map)]
          const edit = new MapEdit(map)
          for (const { key, value, removes } of batch) {
            if (removes) expect(edit.delete(key)).toBe(model.delete(key))
            else {
              edit.set(key, value)
              model.set(key, value)
            }
            expect(edit.get(key)).toBe(model.get(key))
          }
          const next = edit.seal()
          expect([...mapEntries(map)]).toEqual(before)
          map = next
          const sorted = [...model].sort(([left], [right]) => left - right)
          expect([...mapEntries(map)]).toEqual(sorted)
          expect([...mapEntries(map, 150)]).toEqual(sorted.filter(([key]) => key >= 150))
          expect(map.size).toBe(model.size)
        }
      }),
      { numRuns: 200 }
    )
  })

  it("gives slices that later edits do not disturb", () => {
    const edit = new MapEdit<number, string>(emptyMap((left, right) => left - right))
    for (let key = 0; key < 500; key++) edit.set(key, `v${key}`)
    const slice = edit.slice(3, 100)
    for (const [key] of slice) edit.delete(key)
    expect(slice.map(([key]) => key)).toEqual([100, 101, 102])
    expect(edit.slice(2, 100).map(([key]) => key)).toEqual([103, 104])
    expect(edit.slice(0)).toEqual([])
    expect(mapGet(edit.seal(), 101)).toBeUndefined()
  })

  it("refuses an edit after it was sealed, and gives the same map when nothing changed", () => {
    const map = emptyMap<number, string>((left, right) => left - right)
    const edit = new MapEdit(map)
    expect(edit.delete(1)).toBe(false)
    expect(edit.seal()).toBe(map)
    expect(() => edit.set(1, "x")).toThrow("sealed")
  })
})
