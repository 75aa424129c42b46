/** A metadata service in memory that answers over Messaging: what the client's tests talk to. */
import { MetadataOperations, serveOperation, ServiceError, DeviceId } from "@holdfast/wire"
import { Effect } from "effect"
import type { FakeCluster, FakeChunk } from "./fake-cluster.ts"

const serving = { concurrency: 16, backlog: 1_000 }

const refusal = (code: string, message: string) => Effect.fail(new ServiceError({ code, message }))

/** Devices may come back within a heartbeat, as far as the metadata service knows. */
const tooFewDevices = new ServiceError({
  code: "not-enough-devices",
  message: "too few devices",
  retryAfterMs: 500
})

const targetOf = (deviceId: string) => ({
  deviceId,
  hostId: `host-of-${deviceId}`,
  url: `memory:${deviceId}`,
  capability: "fake"
})

const find = (
  cluster: FakeCluster,
  { chunkId, fileId }: { readonly fileId: number; readonly chunkId: number }
): FakeChunk | undefined =>
  cluster.chunks.find(
    ({ chunk, isFreed }) => !isFreed && chunk.fileId === fileId && chunk.chunkId === chunkId
  )

/** Serves the operations until the scope closes. */
export const serveFakeMetadata = (cluster: FakeCluster) =>
  Effect.gen(function* () {
    const { name } = cluster
    const counted = <A>(operation: string, act: () => Effect.Effect<A, ServiceError>) =>
      Effect.suspend(() => {
        cluster.calls.push(operation)
        const failing = cluster.failNext.get(operation) ?? 0
        if (failing === 0) return act()
        cluster.failNext.set(operation, failing - 1)
        return Effect.fail(
          new ServiceError({ code: "overloaded", message: "as planned", retryAfterMs: 1 })
        )
      })

    yield* serveOperation(MetadataOperations.createFile, {
      cluster: name,
      ...serving,
      handler: () =>
        counted("create-file", () =>
          Effect.sync(() => ({ response: { fileId: ++cluster.lastFileId } }))
        )
    })
    yield* serveOperation(MetadataOperations.alloc, {
      cluster: name,
      ...serving,
      handler: ({ exclude, fileId, min, want }) =>
        counted("alloc", () => {
          const excluded = new Set<string>(exclude)
          const open = cluster.devices.filter(({ id, isFull }) => !isFull && !excluded.has(id))
          if (open.length < min) return Effect.fail(tooFewDevices)
          const version = ++cluster.lastVersion
          const chunkId = cluster.lastVersion
          const chunk = { fileId, chunkId, version }
          const targets = open.slice(0, want).map(({ id }) => targetOf(id))
          const lease = `lease-${version}`
          return Effect.succeed({ response: { lease, chunk, targets, expiresAfterMs: 60_000 } })
        })
    })
    yield* serveOperation(MetadataOperations.publish, {
      cluster: name,
      ...serving,
      handler: ({ chunk, goal, min, receipts }) =>
        counted("publish", () => {
          if (receipts.length < min) return refusal("too-few-copies", "too few copies")
          const holders = receipts.map(({ deviceId }) => deviceId)
          if (find(cluster, chunk) === undefined) {
            cluster.chunks.push({ chunk, goal, holders, isFreed: false })
          }
          const status = "counted" as const
          const devices = receipts.map(({ deviceId }) => ({
            deviceId: DeviceId.make(deviceId),
            status
          }))
          return Effect.succeed({ response: { copies: holders.length, devices } })
        })
    })
    yield* serveOperation(MetadataOperations.abandon, {
      cluster: name,
      ...serving,
      handler: () => counted("abandon", () => Effect.succeed({ response: {} }))
    })
    yield* serveOperation(MetadataOperations.locate, {
      cluster: name,
      ...serving,
      handler: (key) =>
        counted("locate", () => {
          const known = find(cluster, key)
          if (known === undefined) return refusal("no-such-chunk", "there is no such chunk")
          const { chunk, goal, holders } = known
          return Effect.succeed({ response: { chunk, goal, holders: holders.map(targetOf) } })
        })
    })
    yield* serveOperation(MetadataOperations.listChunks, {
      cluster: name,
      ...serving,
      handler: ({ after, fileId, limit }) =>
        counted("list-chunks", () => {
          const all = cluster.chunks
            .filter(({ chunk, isFreed }) => !isFreed && chunk.fileId === fileId)
            .filter(({ chunk }) => after === undefined || chunk.chunkId > after)
            .toSorted((left, right) => left.chunk.chunkId - right.chunk.chunkId)
          const chunks = all.slice(0, limit).map(({ chunk, goal, holders }) => {
            const health = holders.length < goal ? ("below-goal" as const) : ("at-goal" as const)
            return { chunk, goal, copies: holders.length, health }
          })
          return Effect.succeed({ response: { chunks, more: all.length > limit } })
        })
    })
    yield* serveOperation(MetadataOperations.free, {
      cluster: name,
      ...serving,
      handler: ({ chunks }) =>
        counted("free", () =>
          Effect.sync(() => {
            const results = chunks.map((chunk) => {
              const known = find(cluster, chunk)
              if (known === undefined) return "no-such-chunk" as const
              known.isFreed = true
              return "freed" as const
            })
            return { response: { results } }
          })
        )
    })
    yield* serveOperation(MetadataOperations.reportBad, {
      cluster: name,
      ...serving,
      handler: ({ deviceId }) =>
        counted("report-bad", () =>
          Effect.sync(() => {
            cluster.reportedBad.push(deviceId)
            return { response: {} }
          })
        )
    })
  })
