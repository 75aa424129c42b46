/** Full reports beside everything else: what waits is decided by turns, whatever a part costs. */
import { assert, describe, it } from "@effect/vitest"
import { MetadataOperations } from "@holdfast/wire"
import { Effect, Fiber } from "effect"
import { ask, makePuppet, makeWorld, ready } from "./testing/world.ts"

const { createFile, alloc, status } = MetadataOperations

const partCopies = 500
/** As many as may report at a time. */
const reporters = 6
const copiesOfEach = 6_000
/**
 * Parts that are answered while a message waits, at most: the one under way, one of the message's
 * own turn, and one whose answer was on its way before.
 */
const partsPassedMax = 3

/** A chunk server that holds so many copies of chunks that nobody knows. */
const reporterOf = (number: number) => {
  const puppet = makePuppet(`reporter-${number}`)
  for (let index = 0; index < copiesOfEach; index += 1) {
    const version = 1 + number * copiesOfEach + index
    const chunk = { fileId: 1 + (version >> 10), chunkId: version & 1023, version }
    puppet.copies.set(String(index), { ...chunk, length: 1, checksum: 1 })
  }
  return puppet
}

describe("metadata-T10: full reports of many copies from several devices at once", () => {
  it.live("delay no heartbeat and no allocation by more than a part or two", () =>
    Effect.gen(function* () {
      const world = yield* makeWorld()
      yield* world.start()
      const small = makePuppet("small")
      yield* Effect.gen(function* () {
        yield* small.join()
        yield* ready
        const { fileId } = yield* ask(createFile, {})
        let parts = 0
        const reporting = yield* Effect.forEach(
          Array.from({ length: reporters }, (_, number) => reporterOf(number)),
          (puppet) =>
            puppet.join(partCopies, () => {
              parts += 1
            }),
          { concurrency: "unbounded", discard: true }
        ).pipe(Effect.forkChild({ startImmediately: true }))
        let [asked, longest] = [0, 0]
        const request = { fileId, size: 1, want: 1, min: 1, exclude: [] }
        while (reporting.pollUnsafe() === undefined) {
          const before = parts
          yield* Effect.all([small.beat(), ask(alloc, request), ask(alloc, request)], {
            concurrency: "unbounded",
            discard: true
          })
          longest = Math.max(longest, parts - before)
          asked += 1
        }
        yield* Fiber.join(reporting)
        assert.strictEqual(parts, (reporters * copiesOfEach) / partCopies)
        assert.isAbove(asked, reporters)
        assert.isAtMost(longest, partsPassedMax)
        const { devices, pending } = yield* ask(status, {})
        assert.deepStrictEqual([devices.live, devices.registering], [reporters + 1, 0])
        assert.strictEqual(pending.quarantined, reporters * copiesOfEach)
      }).pipe(Effect.provide(world.client))
    })
  )
})
