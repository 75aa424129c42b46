import { describeRecordSourceContract, describeRecordSpoolContract } from "@holdfast/suites"
import { Effect, Layer } from "effect"
import { memoryRecordSource } from "./memory-record-source.ts"
import { memoryRecordSpool } from "./memory-record-spool.ts"
import { MemoryStreams } from "./memory-streams.ts"

const shard = "orders"

const source = Effect.sync(() => {
  const streams = MemoryStreams.make()
  return { streams, shard, layer: memoryRecordSource(streams) }
})

const spool = Effect.sync(() => {
  const streams = MemoryStreams.make()
  return { streams, layer: Layer.merge(memoryRecordSource(streams), memoryRecordSpool(streams)) }
})

describeRecordSourceContract({
  name: "memory",
  storage: source,
  put: ({ streams }, records) => streams.put(shard, records),
  grows: true,
  purge: ({ streams }, upTo) => streams.purge(shard, upTo),
  remove: ({ streams }, position) => streams.apply({ _tag: "Remove", stream: shard, position }),
  end: ({ streams }) => streams.apply({ _tag: "End", stream: shard })
})

describeRecordSpoolContract({
  name: "memory",
  storage: spool,
  smallStorage: Effect.tap(spool, ({ streams }) =>
    streams.apply({ _tag: "Capacity", bytes: 1_000_000 })
  )
})
