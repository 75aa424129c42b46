import { assert, describe, it } from "@effect/vitest"
import { CheckpointStore, Lease } from "@holdfast/records"
import { describeCheckpointStoreContract, describeLeaseContract } from "@holdfast/suites"
import { Context, Effect, Layer, Option } from "effect"
import { execFile } from "node:child_process"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { damageValue, temporaryDirectory, temporaryStorage } from "./testing/harm.ts"
import { fileCheckpointStore, fileJournal, fileLease } from "./index.ts"

const isNamed = (name: string) => (key: Buffer) => key.toString("utf8") === name

const checkpoints = Effect.map(temporaryStorage("checkpoints"), (made) => ({
  ...made,
  layer: fileCheckpointStore(made.options)
}))

const leases = Effect.map(temporaryStorage("leases"), (made) => ({
  ...made,
  layer: fileLease(made.options)
}))

describeCheckpointStoreContract({
  name: "file",
  storage: checkpoints,
  damage: ({ directory }, shard) =>
    damageValue({ directory, table: "checkpoints", isMeant: isNamed(shard) }),
  completionMapTooLong: 1_000_000
})

describeLeaseContract({
  name: "file",
  storage: leases,
  damage: ({ directory }, shard) =>
    damageValue({ directory, table: "leases", isMeant: isNamed(shard) })
})

describe("a progress store", () => {
  it.live(
    "is shared by processes: of two that renew a claim none undoes another's",
    () =>
      Effect.gen(function* () {
        const directory = yield* temporaryDirectory("shared")
        const script = fileURLToPath(new URL("testing/claiming-process.ts", import.meta.url))
        const args = ["--conditions=@holdfast/source", script, directory, "10"]
        const run = promisify(execFile)
        yield* Effect.promise(() => Promise.all([1, 2].map(() => run(process.execPath, args))))
        const lease = Context.get(yield* Layer.build(fileLease({ directory })), Lease)
        const [stored] = yield* lease.list
        assert.deepStrictEqual([stored?.record.beat, stored?.revision], [20, 20n])
      }),
    60_000
  )

  it.live("keeps claims and checkpoints in one directory, and is no journal", () =>
    Effect.gen(function* () {
      const directory = yield* temporaryDirectory("shared")
      const both = Layer.merge(fileLease({ directory }), fileCheckpointStore({ directory }))
      const context = yield* Layer.build(both)
      const checkpoint = {
        position: Option.some(5n),
        completionMap: new Uint8Array(),
        epoch: 1,
        owner: "w"
      }
      const record = {
        shard: "a",
        owner: Option.some("w"),
        epoch: 1,
        beat: 0,
        wantedBy: Option.none()
      }
      const expected = Option.none()
      yield* Context.get(context, CheckpointStore).save({ shard: "a", checkpoint, expected })
      yield* Context.get(context, Lease).write({ record, expected })
      const found = yield* Context.get(context, CheckpointStore).load("a")
      assert.deepStrictEqual(
        Option.map(found, (stored) => stored.checkpoint),
        Option.some(checkpoint)
      )
      const error = yield* Effect.flip(Layer.build(fileJournal({ directory })))
      assert.strictEqual(error.code, "corrupt")
      assert.include(error.message, "holds a store of kind progress")
    })
  )
})
