import { assert, describe, it } from "vitest"
import { counter, registers, registersMax } from "./index.ts"

describe("applications", () => {
  it("a counter adds, and stays at the end of the safe numbers", () => {
    assert.deepStrictEqual(counter.apply({ add: 5 }, 2), { output: 7, state: 7 })
    const most = Number.MAX_SAFE_INTEGER
    assert.deepStrictEqual(counter.apply({ add: most }, most), { output: most, state: most })
    assert.deepStrictEqual(counter.index(0), [])
    assert.lengthOf(counter.index(3), 1)
  })

  it("registers answer what was there before, and refuse one too many", () => {
    const set = (name: string, value: unknown) => ({ _tag: "Set", name, value }) as const
    const first = registers.apply(set("a", { n: 1 }), {})
    assert.deepStrictEqual(first, {
      output: { _tag: "Before", value: null },
      state: { a: { n: 1 } }
    })
    const second = registers.apply(set("a", 2), first.state)
    assert.deepStrictEqual(second.output, { _tag: "Before", value: { n: 1 } })
    const removed = registers.apply({ _tag: "Remove", name: "a" }, second.state)
    assert.deepStrictEqual(removed, { output: { _tag: "Before", value: 2 }, state: {} })
    const names = Array.from({ length: registersMax }, (_, at) => [`n${at}`, at] as const)
    const full = Object.fromEntries(names)
    const refused = registers.apply(set("one more", 1), full)
    assert.deepStrictEqual(refused, { output: { _tag: "Full", most: registersMax }, state: full })
    assert.lengthOf(registers.index(full), registersMax)
    assert.deepStrictEqual(registers.apply(set("toString", 1), {}).output, {
      _tag: "Before",
      value: null
    })
  })
})
