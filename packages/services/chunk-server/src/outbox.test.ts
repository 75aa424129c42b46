import { assert, describe, it } from "@effect/vitest"
import { makeOutbox } from "./outbox.ts"

describe("the outbox", () => {
  it("repeats items until a heartbeat that carried them is confirmed", () => {
    const outbox = makeOutbox<string>({ batchMax: 2, itemsMax: 10 })
    for (const item of ["a", "b", "c"]) outbox.put(item)
    assert.deepStrictEqual(outbox.batch(1), ["a", "b"])
    assert.deepStrictEqual(outbox.batch(2), ["a", "b"], "the reply to 1 was lost")
    assert.deepStrictEqual(outbox.confirm(0), [])
    assert.deepStrictEqual(outbox.batch(3), ["a", "b"])
    assert.deepStrictEqual(outbox.confirm(2), ["a", "b"])
    outbox.put("d")
    assert.strictEqual(outbox.unsent(), 2)
    assert.deepStrictEqual(outbox.batch(4), ["c", "d"])
    outbox.put("e")
    outbox.confirm(4)
    assert.deepStrictEqual(outbox.batch(5), ["e"], "what came after the heartbeat stays")
  })

  it("drops and counts what is over the bound", () => {
    const outbox = makeOutbox<number>({ batchMax: 10, itemsMax: 2 })
    for (const item of [1, 2, 3]) outbox.put(item)
    assert.deepStrictEqual(outbox.batch(1), [1, 2])
    assert.strictEqual(outbox.dropped(), 1)
  })
})
