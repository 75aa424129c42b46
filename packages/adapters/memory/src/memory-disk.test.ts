import { assert, describe, it } from "@effect/vitest"
import { Journal, PartitionStore } from "@holdfast/storage"
import { Context, Effect, Fiber, Layer, Option, Random, Stream } from "effect"
import { TestClock } from "effect/testing"
import * as fc from "fast-check"
import { MemoryDisk } from "./memory-disk.ts"
import { memoryJournal } from "./memory-journal.ts"
import { memoryPartitionStore } from "./memory-partition-store.ts"

const text = (value: string) => new TextEncoder().encode(value)
const decoder = new TextDecoder()

const openJournal = (disk: MemoryDisk) =>
  Effect.map(Layer.build(Layer.fresh(memoryJournal(disk))), (context) =>
    Context.get(context, Journal)
  )

const entriesOn = (disk: MemoryDisk) =>
  Effect.gen(function* () {
    const { entries, cutEntries } = yield* (yield* openJournal(disk)).recover
    const found = yield* Stream.runCollect(entries)
    return { found: found.map((entry) => decoder.decode(entry)), cutEntries }
  }).pipe(Effect.scoped)

/** Appends at given times, crashes the disk at another; what was answered and what is found. */
const crashDuringAppends = (plan: {
  readonly seed: number
  readonly syncMillis: number
  readonly appendsAt: ReadonlyArray<number>
  readonly crashAt: number
}) =>
  Effect.gen(function* () {
    const disk = yield* MemoryDisk.make()
    yield* disk.apply({ _tag: "SyncMillis", millis: plan.syncMillis })
    const journal = yield* openJournal(disk)
    const times = [...plan.appendsAt].sort((left, right) => left - right)
    const appends = yield* Effect.forEach(times, (at, index) =>
      Effect.forkChild(
        Effect.exit(
          Effect.andThen(Effect.sleep(at), journal.append([text(`${index} a`), text(`${index} b`)]))
        )
      )
    )
    yield* Effect.forkChild(
      Effect.andThen(Effect.sleep(plan.crashAt), disk.apply({ _tag: "Crash" }))
    )
    yield* TestClock.adjust("10 seconds")
    const exits = yield* Effect.forEach(appends, Fiber.join)
    const answered = exits.flatMap((exit, index) => (exit._tag === "Success" ? [index] : []))
    yield* disk.apply({ _tag: "SyncMillis", millis: 0 })
    return { answered, after: yield* entriesOn(disk) }
  }).pipe(Effect.scoped, Effect.provide(TestClock.layer()), Random.withSeed(plan.seed))

const crashes = fc.record({
  seed: fc.nat(),
  syncMillis: fc.nat({ max: 20 }),
  appendsAt: fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1, maxLength: 10 }),
  crashAt: fc.integer({ min: 1, max: 80 })
})

describe("a memory disk", () => {
  it("keeps what was answered and a prefix of the rest, whole appends only, in order", () =>
    fc.assert(
      fc.asyncProperty(crashes, async (plan) => {
        const { answered, after } = await Effect.runPromise(crashDuringAppends(plan))
        const numbers = after.found.map((entry) => Number(entry.split(" ")[0]))
        const expected = Array.from({ length: numbers.length / 2 }, (_, index) => index)
        assert.deepStrictEqual(
          after.found,
          expected.flatMap((index) => [`${index} a`, `${index} b`])
        )
        assert.isAtLeast(expected.length, answered.length)
      }),
      { numRuns: 100 }
    ))

  it.effect("ends the old process at a crash: its later writes change nothing", () =>
    Effect.gen(function* () {
      const disk = yield* MemoryDisk.make()
      const old = yield* openJournal(disk)
      yield* old.append([text("before")])
      yield* disk.apply({ _tag: "Crash" })
      const successor = yield* openJournal(disk)
      const error = yield* Effect.flip(old.append([text("late")]))
      assert.strictEqual(error.code, "unavailable")
      yield* successor.append([text("after")])
      const { entries } = yield* successor.recover
      const found = yield* Stream.runCollect(entries)
      assert.deepStrictEqual(
        found.map((entry) => decoder.decode(entry)),
        ["before", "after"]
      )
    })
  )

  it.effect("fails the next writes and reads that it is told to, and no more", () =>
    Effect.gen(function* () {
      const disk = yield* MemoryDisk.make()
      const journal = yield* openJournal(disk)
      yield* disk.apply({ _tag: "FailWrites", count: 1 })
      const write = yield* Effect.flip(journal.append([text("lost")]))
      yield* journal.append([text("kept")])
      yield* disk.apply({ _tag: "FailReads", count: 1 })
      const read = yield* Effect.flip(journal.recover)
      assert.deepStrictEqual([write.code, read.code], ["unavailable", "unavailable"])
      const { entries } = yield* journal.recover
      assert.strictEqual((yield* Stream.runCollect(entries)).length, 1)
    })
  )

  it.effect("counts what is on its way when it refuses for want of room", () =>
    Effect.gen(function* () {
      const disk = yield* MemoryDisk.make({ capacity: 100 })
      yield* disk.apply({ _tag: "SyncMillis", millis: 10 })
      const journal = yield* openJournal(disk)
      const append = Effect.exit(journal.append([new Uint8Array(40)]))
      const appends = yield* Effect.forEach([1, 2, 3], () => Effect.forkChild(append))
      yield* TestClock.adjust("1 second")
      const exits = yield* Effect.forEach(appends, Fiber.join)
      assert.deepStrictEqual(
        exits.map((exit) => exit._tag),
        ["Success", "Success", "Failure"]
      )
      assert.isAtMost((yield* disk.usage).used, 100)
    })
  )

  it("leaves a partition store's commit whole or absent", () =>
    fc.assert(
      fc.asyncProperty(fc.nat(), async (seed) => {
        const states = await Effect.runPromise(crashDuringCommit(seed))
        assert.include(["old old", "new new"], states)
      }),
      { numRuns: 40 }
    ))
})

const crashDuringCommit = (seed: number) =>
  Effect.gen(function* () {
    const disk = yield* MemoryDisk.make()
    const open = Effect.map(Layer.build(Layer.fresh(memoryPartitionStore(disk))), (context) =>
      Context.get(context, PartitionStore)
    )
    const keys = ["0".repeat(64), "1".repeat(64)]
    const writes = (state: string) =>
      keys.map((key) => ({ application: "x", key, state: Option.some(text(state)), tags: [] }))
    const store = yield* open
    yield* store.commit({ partitions: writes("old"), facts: [] })
    yield* disk.apply({ _tag: "SyncMillis", millis: 10 })
    const committing = yield* Effect.forkChild(
      Effect.exit(store.commit({ partitions: writes("new"), facts: [] })),
      { startImmediately: true }
    )
    yield* disk.apply({ _tag: "Crash" })
    yield* TestClock.adjust("1 second")
    yield* Fiber.join(committing)
    const successor = yield* open
    const states = yield* Effect.forEach(keys, (key) => successor.load({ application: "x", key }))
    return states
      .map((found) =>
        Option.isSome(found) && found.value._tag === "Intact"
          ? decoder.decode(found.value.state)
          : "gone"
      )
      .join(" ")
  }).pipe(Effect.scoped, Effect.provide(TestClock.layer()), Random.withSeed(seed))
