import { jetstream, jetstreamManager, StorageType } from "@nats-io/jetstream"
import { Kvm } from "@nats-io/kv"
import { assert, describe, it } from "@effect/vitest"
import { CheckpointStore, Lease } from "@holdfast/records"
import { describeCheckpointStoreContract, describeLeaseContract } from "@holdfast/suites"
import { Context, Effect, Exit, Layer, Option, References, Schedule } from "effect"
import fc from "fast-check"
import { randomUUID } from "node:crypto"
import { openBucket } from "./bucket.ts"
import { bucketKey } from "./bucket-key.ts"
import { openConnection } from "./managed-connection.ts"
import { natsCheckpointStoreLayer } from "./nats-checkpoint-store.ts"
import { natsLeaseLayer } from "./nats-lease.ts"
import { quickOptions, useNatsServer } from "./testing/server-layer.ts"
import { manage } from "./testing/stream-bench.ts"

const { server, connections } = useNatsServer()
const quiet = Effect.provideService(References.MinimumLogLevel, "None")
const open = Effect.suspend(() => openConnection({ ...quickOptions, servers: [server().url] }, "t"))

const damage = (storage: { readonly bucket: string }, shard: string) =>
  Effect.scoped(
    Effect.flatMap(open, ({ native }) =>
      Effect.promise(async () => {
        const store = await new Kvm(jetstream(native)).open(storage.bucket)
        await store.put(bucketKey(shard), "{ damaged")
      })
    )
  )

const freshBucket = () => `test-${randomUUID()}`

describeCheckpointStoreContract({
  name: "nats",
  storage: Effect.sync(() => {
    const bucket = freshBucket()
    return {
      bucket,
      layer: natsCheckpointStoreLayer({ bucket }).pipe(Layer.provide(connections()))
    }
  }),
  damage,
  completionMapTooLong: 800_000
})

describeLeaseContract({
  name: "nats",
  storage: Effect.sync(() => {
    const bucket = freshBucket()
    return { bucket, layer: natsLeaseLayer({ bucket }).pipe(Layer.provide(connections())) }
  }),
  damage
})

describe("a bucket", () => {
  it.live("is listed while others write to it without a pause", () =>
    Effect.gen(function* () {
      const bucket = freshBucket()
      const value = new TextEncoder().encode("some value")
      const writing = yield* Effect.forEach([1, 2, 3, 4], (writer) =>
        Effect.gen(function* () {
          const { list, put } = yield* openBucket(yield* open, { bucket })
          let revision = yield* put({ key: `k${writer}`, value, expected: Option.none() })
          const write = Effect.gen(function* () {
            revision = yield* put({ key: `k${writer}`, value, expected: Option.some(revision) })
          })
          yield* Effect.forkScoped(Effect.forever(write))
          return list
        })
      )
      for (let round = 0; round < 10; round += 1) {
        for (const list of writing) {
          const keys = (yield* Effect.timeout(list, "4 seconds")).map(({ key }) => key)
          assert.deepStrictEqual(keys.toSorted(), ["k1", "k2", "k3", "k4"])
        }
      }
      const manager = yield* manage(yield* open)
      const { state } = yield* Effect.promise(() => manager.streams.info(`KV_${bucket}`))
      assert.strictEqual(state.consumer_count, 0, "no listing leaves a consumer behind")
    })
  )

  it("has a key of its own for every name", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.string({ unit: "binary" }), (left, right) => {
        assert.match(bucketKey(left), /^[-=\w]+$/)
        if (left.toWellFormed() !== right.toWellFormed()) {
          assert.notStrictEqual(bucketKey(left), bucketKey(right))
        }
      })
    )
  })

  it.live("on memory, or whose keys expire, is refused with what is wrong", () =>
    Effect.gen(function* () {
      const connection = yield* open
      const bucket = freshBucket()
      yield* Effect.promise(async () => {
        const manager = await jetstreamManager(connection.native)
        await manager.streams.add({
          name: `KV_${bucket}`,
          subjects: [`$KV.${bucket}.>`],
          storage: StorageType.Memory,
          max_age: 5_000_000_000
        })
      })
      const error = yield* Effect.flip(openBucket(connection, { bucket }))
      assert.strictEqual(error.code, "mismatch")
      assert.match(error.message, /storage is "memory" and should be "file"/)
      assert.match(error.message, /max_age/)
    })
  )

  it.live("that this server cannot make is refused with a sentence", () =>
    Effect.gen(function* () {
      const connection = yield* open
      const error = yield* Effect.flip(
        openBucket(connection, { bucket: freshBucket(), replicas: 3 })
      )
      assert.include(error.message, "replicas")
    })
  )

  it.live("keeps what was saved over a kill of the server; the loser of a race conflicts", () =>
    Effect.gen(function* () {
      const bucket = freshBucket()
      const layer = natsCheckpointStoreLayer({ bucket }).pipe(Layer.provide(connections()))
      const build = Effect.map(Layer.build(Layer.fresh(layer)), (context) =>
        Context.get(context, CheckpointStore)
      )
      const checkpoint = {
        position: Option.some(7n),
        completionMap: Uint8Array.of(1, 2, 3),
        epoch: 1,
        owner: "one"
      }
      const winner = yield* build
      const loser = yield* build
      const first = { shard: "s", checkpoint, expected: Option.none() }
      const revision = yield* winner.save(first)
      yield* Effect.promise(() => server().kill())
      const cut = yield* Effect.flip(Effect.retry(winner.load("s"), { times: 3 }))
      assert.strictEqual(cut.code, "unavailable")
      yield* Effect.promise(() => server().start())
      const found = yield* Effect.retry(loser.load("s"), {
        times: 200,
        schedule: Schedule.spaced("20 millis")
      })
      assert.deepStrictEqual(found, Option.some({ checkpoint, revision }))
      const lost = yield* Effect.flip(loser.save(first))
      assert.strictEqual(lost._tag, "CheckpointConflict")
    }).pipe(quiet)
  )

  it.live("answers at once as unavailable when the server is gone, for leases as well", () =>
    Effect.gen(function* () {
      const bucket = freshBucket()
      const layer = natsLeaseLayer({ bucket }).pipe(Layer.provide(connections()))
      const lease = Context.get(yield* Layer.build(Layer.fresh(layer)), Lease)
      yield* Effect.promise(() => server().kill())
      const exit = yield* Effect.exit(lease.list)
      yield* Effect.promise(() => server().start())
      assert.isTrue(Exit.isFailure(exit))
    }).pipe(quiet)
  )
})
