/**
 * Three workers on one store under faults and virtual time: frozen and thawed, stopped and started,
 * with stores and sources that do not answer. Whatever is reported as done is durable, so at any
 * moment no checkpoint and no map may say more than was reported.
 */
import { assert, describe, it } from "@effect/vitest"
import { decodeMap, statusOf } from "@holdfast/disposition"
import { Effect, Fiber, Option, Result } from "effect"
import { makeWorld, pass, type TestWorker } from "./testing/world.ts"

const shards = ["a", "b", "c"]
const names = ["w1", "w2", "w3"]

/** A linear congruential generator of 32 bits: one seed, one story. */
const makeRandom = (seed: number) => {
  let state = seed
  return (below: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

type World = Effect.Success<typeof makeWorld>

interface Story {
  readonly world: World
  readonly workers: Map<string, TestWorker>
  /** What was reported as done, by shard. */
  readonly durable: Map<string, Set<bigint>>
  readonly random: (below: number) => number
  readonly before: Map<string, { readonly position: bigint; readonly epoch: number }>
}

/** Reports some of what is in flight as done, or as failed. */
const reportSome = ({ durable, random }: Story, worker: TestWorker | undefined): void => {
  const opened = worker?.opened[random(Math.max(1, worker.opened.length))]
  if (opened === undefined) return
  for (const { ordinal, record } of opened.offered) {
    const luck = random(10)
    if (luck < 4) {
      durable.get(opened.options.shard)?.add(record.position)
      opened.options.report([{ _tag: "Done", ordinals: [ordinal] }])
    } else if (luck === 9) {
      opened.options.report([{ _tag: "Failed", ordinal, reason: "bad luck" }])
    }
  }
}

const check = Effect.fnUntraced(function* ({ before, durable, world }: Story) {
  for (const shard of shards) {
    const checkpoint = yield* Effect.retry(world.checkpoint(shard), { times: 50 })
    if (checkpoint === undefined) continue
    const position = Option.getOrElse(checkpoint.position, () => 0n)
    const done = durable.get(shard)!
    for (let at = 1n; at <= position; at++) assert.isTrue(done.has(at), `${shard} passed ${at}`)
    const base = Option.getOrUndefined(checkpoint.position)
    const map = decodeMap(checkpoint.completionMap, { base, newest: undefined })
    for (let at = position + 1n; at < position + 200n; at++) {
      const isClaimed = statusOf(Result.getOrThrow(map), at)._tag === "Finished"
      assert.isTrue(!isClaimed || done.has(at), `${shard} claims ${at}`)
    }
    const earlier = before.get(shard)
    assert.isTrue(earlier === undefined || earlier.position <= position, `${shard} went back`)
    assert.isTrue(earlier === undefined || earlier.epoch <= checkpoint.epoch, "an epoch fell")
    before.set(shard, { position, epoch: checkpoint.epoch })
  }
})

const step = Effect.fnUntraced(function* (story: Story) {
  const { random, workers, world } = story
  const name = names[random(names.length)]!
  const worker = workers.get(name)
  const dice = random(20)
  if (dice < 9) reportSome(story, worker)
  else if (dice < 12) yield* world.append(shards[random(3)]!, 1 + random(8))
  else if (dice === 12) worker?.freeze()
  else if (dice === 13) worker?.thaw()
  else if (dice === 14) yield* world.keyValue.apply({ _tag: "Unavailable", count: random(12) })
  else if (dice === 15) yield* world.keyValue.apply({ _tag: "LoseAnswers", count: random(3) })
  else if (dice === 16) yield* world.streams.apply({ _tag: "Unavailable", count: random(5) })
  else if (dice === 17 && worker === undefined) {
    workers.set(name, yield* world.start(name, { config: patientPolicy }))
  } else if (dice === 18 && worker !== undefined) {
    workers.delete(name)
    worker.thaw()
    const stopping = yield* Effect.forkChild(worker.stop)
    yield* pass(6_000)
    yield* Fiber.join(stopping)
  }
  yield* pass(50 * (1 + random(30)))
})

const patientPolicy = {
  errorPolicy: {
    _tag: "Retry",
    schedule: { retries: 1_000, initialMs: 200, factor: 1, maximumMs: 200 },
    exhausted: "halt"
  }
}

/** Heals everything, and lets whatever is offered be done at once. */
const heal = Effect.fnUntraced(function* (story: Story) {
  const { durable, workers, world } = story
  yield* world.keyValue.apply({ _tag: "Unavailable", count: 0 })
  yield* world.keyValue.apply({ _tag: "LoseAnswers", count: 0 })
  yield* world.streams.apply({ _tag: "Unavailable", count: 0 })
  if (workers.size === 0) workers.set("w1", yield* world.start("w1", { config: patientPolicy }))
  for (let round = 0; round < 40; round++) {
    for (const worker of workers.values()) {
      worker.thaw()
      for (const { offered, options } of worker.opened) {
        for (const { record } of offered) durable.get(options.shard)?.add(record.position)
        options.report([{ _tag: "Done", ordinals: offered.map(({ ordinal }) => ordinal) }])
      }
    }
    yield* pass(1_000)
  }
})

describe("workers under faults", () => {
  it.effect.each(Array.from({ length: 6 }, (_, at) => at + 1))("seed %d", (seed) =>
    Effect.gen(function* () {
      const story: Story = {
        world: yield* makeWorld,
        workers: new Map(),
        durable: new Map(shards.map((shard) => [shard, new Set<bigint>()])),
        random: makeRandom(seed),
        before: new Map()
      }
      for (const shard of shards) yield* story.world.append(shard, 10)
      for (const name of names.slice(0, 2)) {
        story.workers.set(name, yield* story.world.start(name, { config: patientPolicy }))
      }
      for (let round = 0; round < 60; round++) {
        yield* step(story)
        yield* check(story)
      }
      yield* heal(story)
      yield* check(story)
      for (const shard of shards) {
        const newest = story.world.streams.byName.get(shard)!.next - 1n
        assert.strictEqual(yield* story.world.position(shard), newest, `${shard} drained`)
      }
    })
  )
})
