/**
 * User records over crashes: whatever the order in which they are done, and whenever workers die,
 * each is done in the end, and none is handed on again once a checkpoint has said that it is done.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import fc from "fast-check"
import type { OfferedRecord } from "./pipeline.ts"
import { aggregateOf } from "./testing/aggregate.ts"
import { makeWorld, pass, type TestWorker } from "./testing/world.ts"

const config = {
  aggregation: "kpl",
  errorPolicy: {
    _tag: "Retry",
    schedule: { retries: 1_000, initialMs: 200, factor: 1, maximumMs: 200 },
    exhausted: "halt"
  }
}
const decoder = new TextDecoder()

/** One life of a worker: what it does of what it is offered, before and after a checkpoint. */
const life = fc.record({
  stored: fc.array(fc.nat(99), { maxLength: 12 }),
  failed: fc.array(fc.nat(99), { maxLength: 3 }),
  lost: fc.array(fc.nat(99), { maxLength: 6 })
})
const story = fc.record({
  sizes: fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 4 }),
  lives: fc.array(life, { minLength: 1, maxLength: 3 })
})
type Story = typeof story extends fc.Arbitrary<infer T> ? T : never

const nameOf = ({ record }: OfferedRecord): string => decoder.decode(record.data)

const reportEach = (
  worker: TestWorker,
  picks: ReadonlyArray<number>,
  isDone: boolean
): ReadonlyArray<string> => {
  const { offered, options } = worker.opened.at(-1)!
  if (offered.length === 0) return []
  return picks.map((pick) => {
    const one = offered[pick % offered.length]!
    const part = one.part!
    options.report([
      isDone
        ? { _tag: "PartsDone", ordinal: one.ordinal, total: part.total, indexes: [part.index] }
        : { _tag: "Failed", ordinal: one.ordinal, part, reason: "bad luck" }
    ])
    return nameOf(one)
  })
}

const assertFresh = (worker: TestWorker, stored: ReadonlySet<string>): void => {
  for (const one of worker.opened.at(-1)?.offered ?? []) {
    assert.isFalse(stored.has(nameOf(one)), `${nameOf(one)} is done, and came again`)
  }
}

const play = Effect.fnUntraced(function* ({ lives, sizes }: Story) {
  const world = yield* makeWorld
  for (const [message, size] of sizes.entries()) {
    const records = Array.from({ length: size }, (_, at) => ["k", `${message}-${at}`] as const)
    yield* world.appendData("orders", aggregateOf(...records))
  }
  const stored = new Set<string>()
  const done = new Set<string>()
  for (const [index, each] of lives.entries()) {
    const worker = yield* world.start(`w${index}`, { config })
    yield* pass(7_500)
    assertFresh(worker, stored)
    const names = reportEach(worker, each.stored, true)
    reportEach(worker, each.failed, false)
    yield* pass(1_500)
    for (const name of names) stored.add(name)
    for (const name of reportEach(worker, each.lost, true)) done.add(name)
    worker.freeze()
  }
  const last = yield* world.start("last", { config })
  yield* pass(7_500)
  assertFresh(last, stored)
  const rest = last.opened.at(-1)?.offered ?? []
  const names = rest.map(nameOf)
  assert.strictEqual(new Set(names).size, names.length, "each comes once")
  reportEach(last, Array.from(rest.keys()).reverse(), true)
  yield* pass(1_500)
  assert.strictEqual(yield* world.position("orders"), BigInt(sizes.length))
  const total = sizes.reduce((sum, size) => sum + size, 0)
  assert.strictEqual(new Set([...stored, ...names]).size, total, "none is missing")
})

describe("user records over crashes", () => {
  const cases = fc.sample(story, { numRuns: 12, seed: 20_261_201 })
  it.effect.each(cases.map((each, at) => ({ ...each, at })))("story $at", (each) => play(each))
})
