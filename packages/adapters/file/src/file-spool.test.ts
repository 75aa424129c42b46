import { RecordSource, RecordSpool } from "@holdfast/records"
import { describeRecordSourceContract, describeRecordSpoolContract } from "@holdfast/suites"
import { Context, Effect, Layer } from "effect"
import { temporaryStorage } from "./testing/harm.ts"
import { fileSpool } from "./index.ts"

const storage = Effect.map(temporaryStorage("spool"), (made) => ({
  ...made,
  layer: fileSpool(made.options)
}))

describeRecordSpoolContract({
  name: "file",
  storage,
  smallStorage: Effect.map(temporaryStorage("spool"), (made) => ({
    ...made,
    layer: fileSpool({ ...made.options, bytesMax: 100_000 })
  }))
})

/** One open spool that every connection of a test shares, as a process holds it alone. */
const openSpool = Effect.gen(function* () {
  const { layer } = yield* storage
  const context = yield* Layer.build(layer)
  const spool = Context.get(context, RecordSpool)
  const layerOfOpen = Layer.succeed(RecordSource, Context.get(context, RecordSource))
  return { spool, layer: layerOfOpen, shard: "orders", appended: { count: 0 } }
})

describeRecordSourceContract({
  name: "file spool",
  storage: openSpool,
  put: ({ appended, shard, spool }, records) =>
    spool.append({ stream: shard, appendId: `append-${(appended.count += 1)}`, records }),
  grows: true,
  purge: ({ shard, spool }, upTo) => spool.purge({ stream: shard, upTo })
})
