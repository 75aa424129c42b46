import { MemoryNetwork } from "@holdfast/adapter-memory"
import { assert, describe, it } from "@effect/vitest"
import { makeCaller, type Operation, WorkerId, WorkerOperations } from "@holdfast/wire"
import { Effect, Fiber, Option } from "effect"
import { makeWorld, pass, type TestWorker } from "./testing/world.ts"

/** Workers over some shards, each prompt, and how to order them about. */
const makeOrdered = (shards: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const world = yield* makeWorld
    for (const shard of shards) yield* world.append(shard, 4)
    const start = (name: string) => world.start(name, { plan: { isPrompt: true } })
    /** What an order came to: nothing, or its error's code. */
    const order = <Request>(
      instance: string,
      operation: Operation<Request, object>,
      request: Request
    ) =>
      Effect.gen(function* () {
        const call = makeCaller(operation)
        const answer = yield* call({
          cluster: "c1",
          instance,
          request,
          deadline: "2 seconds",
          requestId: "r1"
        }).pipe(
          Effect.as(undefined),
          Effect.catchTag("ServiceError", ({ code }) => Effect.succeed(code)),
          Effect.provide(MemoryNetwork.layer(world.network, "operator")),
          Effect.forkChild
        )
        yield* pass(200)
        return yield* Fiber.join(answer)
      })
    return { world, start, order }
  })

const heldBy = ({ worker }: TestWorker) =>
  Effect.map(worker.status, ({ shards }) => shards.map(({ shard }) => shard).toSorted())

const { moveShard, pauseShard, resetShard, resumeShard } = WorkerOperations

describe("a shard that an operator has paused", () => {
  it.effect("is flushed and let go, taken by nobody, and goes on where it was when resumed", () =>
    Effect.gen(function* () {
      const { order, start, world } = yield* makeOrdered(["orders"])
      const one = yield* start("w1")
      const two = yield* start("w2")
      yield* pass(3_000)
      const owners = [...(yield* heldBy(one)), ...(yield* heldBy(two))]
      assert.deepStrictEqual(owners, ["orders"])
      // Whoever is told: the order is a write to the claim.
      assert.isUndefined(yield* order("w2", pauseShard, { shard: "orders" }))
      yield* pass(12_000)
      assert.deepStrictEqual([yield* heldBy(one), yield* heldBy(two)], [[], []])
      const claim = yield* world.lease("orders")
      assert.deepStrictEqual([claim?.owner, claim?.isPaused], [Option.none(), true])
      const { leases } = yield* one.worker.status
      assert.deepInclude(leases[0], { shard: "orders", isPaused: true })
      yield* world.append("orders", 2)
      yield* pass(3_000)
      assert.strictEqual(yield* world.position("orders"), 4n)
      assert.isUndefined(yield* order("w1", resumeShard, { shard: "orders" }))
      yield* pass(4_000)
      assert.strictEqual(yield* world.position("orders"), 6n)
    })
  )

  it.effect("goes on behind the position that it is reset to, or at its oldest record", () =>
    Effect.gen(function* () {
      const { order, start, world } = yield* makeOrdered(["orders"])
      const one = yield* start("w1")
      yield* pass(3_000)
      const shard = "orders"
      assert.strictEqual(yield* order("w1", resetShard, { shard, after: 1n }), "not-paused")
      yield* order("w1", pauseShard, { shard })
      yield* pass(4_000)
      assert.isUndefined(yield* order("w1", resetShard, { shard, after: 1n }))
      yield* order("w1", resumeShard, { shard })
      yield* pass(4_000)
      const offered = (opening: number) =>
        one.opened[opening]!.offered.map(({ record }) => Number(record.position))
      assert.deepStrictEqual(
        [offered(0), offered(1)],
        [
          [1, 2, 3, 4],
          [2, 3, 4]
        ]
      )
      yield* order("w1", pauseShard, { shard })
      yield* pass(4_000)
      assert.isUndefined(yield* order("w1", resetShard, { shard }))
      yield* order("w1", resumeShard, { shard })
      yield* pass(4_000)
      assert.deepStrictEqual(offered(2), [1, 2, 3, 4])
      assert.strictEqual(yield* world.position("orders"), 4n)
    })
  )
})

describe("a shard that an operator moves", () => {
  it.effect("goes from its owner to the worker that is named, flushed first", () =>
    Effect.gen(function* () {
      const { order, start, world } = yield* makeOrdered(["orders"])
      const one = yield* start("w1")
      yield* pass(3_000)
      const two = yield* start("w2")
      yield* pass(3_000)
      const [shard, to] = ["orders", WorkerId.make("w2")]
      assert.strictEqual(yield* order("w2", moveShard, { shard, to }), "not-owner")
      assert.strictEqual(
        yield* order("w1", moveShard, { shard, to: WorkerId.make("w1") }),
        "not-elsewhere"
      )
      assert.isUndefined(yield* order("w1", moveShard, { shard, to }))
      yield* pass(4_000)
      assert.deepStrictEqual([yield* heldBy(one), yield* heldBy(two)], [[], ["orders"]])
      assert.strictEqual(two.opened[0]?.options.resume.after, 4n)
      assert.strictEqual((yield* world.lease("orders"))?.epoch, 2)
    })
  )

  it.effect("is free for all when the worker that is named does not come", () =>
    Effect.gen(function* () {
      const { order, start } = yield* makeOrdered(["orders"])
      const one = yield* start("w1")
      yield* pass(3_000)
      const to = WorkerId.make("nobody")
      assert.isUndefined(yield* order("w1", moveShard, { shard: "orders", to }))
      yield* pass(2_000)
      assert.deepStrictEqual(yield* heldBy(one), [])
      yield* pass(8_000)
      assert.deepStrictEqual(yield* heldBy(one), ["orders"])
    })
  )

  it.effect("that nobody has heard of is refused, whatever is ordered", () =>
    Effect.gen(function* () {
      const { order, start } = yield* makeOrdered(["orders"])
      yield* start("w1")
      yield* pass(2_000)
      const shard = "else"
      assert.strictEqual(yield* order("w1", pauseShard, { shard }), "no-such-shard")
      assert.strictEqual(yield* order("w1", resetShard, { shard }), "no-such-shard")
      assert.strictEqual(
        yield* order("w1", moveShard, { shard, to: WorkerId.make("w2") }),
        "not-owner"
      )
    })
  )
})
