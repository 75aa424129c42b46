import { assert, describe, it } from "@effect/vitest"
import { ChunkServerOperations, makeCaller, makeRequestId } from "@holdfast/wire"
import { Effect, Exit, Option, Scope } from "effect"
import {
  chunkNamed,
  clusterId,
  type Cluster,
  directoryOf,
  eventually,
  formatOn,
  makeCluster,
  patterned,
  read,
  summary,
  target,
  write
} from "./testing/cluster-fixture.ts"
import { digestOf } from "./testing/metadata-double.ts"

const chunk = chunkNamed(7)
const lastOf = (cluster: Cluster, host: string) =>
  cluster.metadata.heartbeats.findLast(({ hostId }) => hostId === host)

/** Stores chunks of ten bytes on a device. */
const fill = (
  cluster: Cluster,
  at: Parameters<typeof target>[0],
  deviceId: string,
  fileIds: ReadonlyArray<number>
) =>
  Effect.forEach(fileIds, (fileId) => {
    const name = chunkNamed(fileId)
    return write(cluster, name, patterned(10), [target(at, deviceId, name, "write")])
  })

describe("heartbeats", () => {
  it.live("name the rack of the host, if it has one", () =>
    Effect.gen(function* () {
      const cluster = yield* makeCluster
      yield* cluster.startServer("h1", ["d1"], { rack: "dc1/r7" })
      yield* cluster.startServer("h2", ["d2"])
      assert.strictEqual(lastOf(cluster, "h1")?.rack, "dc1/r7")
      assert.notProperty(lastOf(cluster, "h2") ?? {}, "rack")
    })
  )
})

describe("reports", () => {
  it.live("a device reports all it holds, in parts that fit the transport", () =>
    Effect.gen(function* () {
      const cluster = yield* makeCluster
      const server = yield* cluster.startServer("h1", ["d1"])
      const fileIds = Array.from({ length: 200 }, (_, index) => index + 1)
      yield* fill(cluster, server, "d1", fileIds)
      const parts = cluster.metadata.parts()
      cluster.metadata.forget("d1")
      yield* eventually(() => cluster.metadata.reports.has("d1"))
      const report = cluster.metadata.reports.get("d1") ?? []
      assert.deepStrictEqual(
        report.map(({ fileId }) => fileId),
        fileIds
      )
      assert.isAbove(cluster.metadata.parts(), parts + 2)
      yield* eventually(() => lastOf(cluster, "h1")?.devices[0]?.digest.count === 200)
      assert.deepStrictEqual(lastOf(cluster, "h1")?.devices[0]?.digest, digestOf(report))
    })
  )

  it.live("metadata-B4: a report that is refused ends, heartbeats go on, another one is sent", () =>
    Effect.gen(function* () {
      const cluster = yield* makeCluster
      yield* cluster.startServer("h1", ["d1"])
      cluster.metadata.failure = "lease-expired"
      cluster.metadata.forget("d1")
      yield* Effect.sleep("100 millis")
      cluster.metadata.failure = undefined
      yield* eventually(() => cluster.metadata.reports.has("d1"))
    })
  )

  it.live("metadata-B12: a restarted service that gives the same lease again gets its report", () =>
    Effect.gen(function* () {
      const cluster = yield* makeCluster
      const { metadata } = cluster
      yield* cluster.startServer("h1", ["d1"])
      for (let life = 0; life < 3; life += 1) {
        yield* eventually(() => metadata.reports.has("d1"))
        metadata.restart()
      }
      yield* eventually(() => metadata.reports.has("d1"))
    })
  )
})

describe("heartbeats", () => {
  it.live("what happened while the metadata service was away is told when it is back", () =>
    Effect.gen(function* () {
      const cluster = yield* makeCluster
      const server = yield* cluster.startServer("h1", ["d1"])
      yield* cluster.network.apply({ _tag: "Disconnect", node: "metadata" })
      const outcomes = yield* fill(cluster, server, "d1", [1, 2])
      assert.deepStrictEqual(outcomes.map(summary), [["d1 stored"], ["d1 stored"]])
      yield* Effect.sleep("150 millis")
      const before = cluster.metadata.heartbeats.length
      yield* cluster.network.apply({ _tag: "Reconnect", node: "metadata" })
      yield* eventually(() => cluster.metadata.heartbeats.length > before)
      const changes = cluster.metadata.heartbeats.flatMap((beat) => beat.changes)
      const added = changes.flatMap((change) =>
        change._tag === "Added" ? [change.chunk.fileId] : []
      )
      assert.deepStrictEqual(new Set(added), new Set([1, 2]))
    })
  )

  it.live("metadata-B50: stopping says goodbye first", () =>
    Effect.gen(function* () {
      const cluster = yield* makeCluster
      const machine = yield* cluster.machine("h1")
      yield* formatOn(machine.devices, "d1")
      const scope = yield* Scope.make()
      yield* cluster.start(machine, ["d1"]).pipe(Scope.provide(scope))
      yield* eventually(() => cluster.metadata.reports.has("d1"))
      yield* Scope.close(scope, Exit.void)
      const last = lastOf(cluster, "h1")
      assert.deepStrictEqual(
        [last?.goodbye, last?.devices.map(({ deviceId }) => `${deviceId}`)],
        [true, ["d1"]]
      )
      const seen = cluster.metadata.heartbeats.length
      yield* Effect.sleep("100 millis")
      assert.strictEqual(cluster.metadata.heartbeats.length, seen)
    })
  )

  it.live("a stop does not wait long for a metadata service that is away", () =>
    Effect.gen(function* () {
      const cluster = yield* makeCluster
      const machine = yield* cluster.machine("h1")
      yield* formatOn(machine.devices, "d1")
      const scope = yield* Scope.make()
      yield* cluster.start(machine, ["d1"]).pipe(Scope.provide(scope))
      yield* cluster.network.apply({ _tag: "Disconnect", node: "metadata" })
      yield* Effect.timeout(Scope.close(scope, Exit.void), "5 seconds")
    })
  )
})

describe("devices", () => {
  it.live(
    "metadata-B76: a device that the service refuses is not served, until it is no longer",
    () =>
      Effect.gen(function* () {
        const cluster = yield* makeCluster
        const server = yield* cluster.startServer("h1", ["d1"])
        cluster.metadata.refused.set("d1", "it is live on host h2")
        const statusOf = Effect.map(server.server.status, ({ devices }) => devices[0]?.state)
        const isState = (wanted: string) =>
          Effect.repeat(Effect.andThen(Effect.sleep("5 millis"), statusOf), {
            until: (state) => state === wanted
          }).pipe(Effect.timeout("5 seconds"))
        yield* isState("refused")
        const targets = [target(server, "d1", chunk, "write")]
        assert.deepStrictEqual(summary(yield* write(cluster, chunk, patterned(10), targets)), [
          "d1 unavailable"
        ])
        cluster.metadata.refused.clear()
        yield* isState("serving")
        assert.deepStrictEqual(summary(yield* write(cluster, chunk, patterned(10), targets)), [
          "d1 stored"
        ])
      })
  )

  it.live("metadata-B81: a directory without a device is named; it is served once it has one", () =>
    Effect.gen(function* () {
      const cluster = yield* makeCluster
      const machine = yield* cluster.machine("h1")
      yield* formatOn(machine.devices, "d1")
      const server = yield* cluster.start(machine, ["d1", "d2"])
      yield* eventually(() => cluster.metadata.reports.has("d1"))
      const [, second] = (yield* server.status).devices
      assert.strictEqual(second?.state, "failed")
      assert.match(second?.reason ?? "", /not-formatted/)
      yield* formatOn(machine.devices, "d2")
      yield* eventually(() => cluster.metadata.reports.has("d2"))
    })
  )

  it.live("metadata-B82: a device that another process holds is named, the others are served", () =>
    Effect.gen(function* () {
      const cluster = yield* makeCluster
      const machine = yield* cluster.machine("h1")
      for (const deviceId of ["d1", "d2"]) yield* formatOn(machine.devices, deviceId)
      const holding = yield* Scope.make()
      yield* machine.devices
        .open({
          directory: directoryOf("d1"),
          clusterId,
          reservedBytes: 0,
          capacityBytes: Option.none()
        })
        .pipe(Scope.provide(holding))
      const server = yield* cluster.start(machine, ["d1", "d2"])
      yield* eventually(() => cluster.metadata.reports.has("d2"))
      assert.match((yield* server.status).devices[0]?.reason ?? "", /locked/)
      yield* Scope.close(holding, Exit.void)
      yield* eventually(() => cluster.metadata.reports.has("d1"))
      assert.strictEqual(lastOf(cluster, "h1")?.devices[0]?.epoch, 2)
    })
  )

  it.live("metadata-W31: a restart opens devices under a higher epoch and reports anew", () =>
    Effect.gen(function* () {
      const cluster = yield* makeCluster
      const machine = yield* cluster.machine("h1")
      yield* formatOn(machine.devices, "d1")
      for (const incarnation of [1, 2]) {
        cluster.metadata.reports.clear()
        yield* Effect.scoped(
          Effect.gen(function* () {
            const server = yield* cluster.start(machine, ["d1"], { incarnation })
            yield* eventually(() => cluster.metadata.reports.has("d1"))
            const at = { name: "h1", server }
            if (incarnation === 1) yield* fill(cluster, at, "d1", [7])
            else {
              const source = target(at, "d1", chunk, "read")
              assert.deepStrictEqual(yield* read(cluster, chunk, source), patterned(10))
            }
          })
        )
      }
      const report = cluster.metadata.reports.get("d1") ?? []
      assert.deepStrictEqual(
        report.map(({ fileId }) => fileId),
        [7]
      )
      assert.strictEqual(lastOf(cluster, "h1")?.devices[0]?.epoch, 2)
    })
  )

  it.live("the server answers for its status", () =>
    Effect.gen(function* () {
      const cluster = yield* makeCluster
      const server = yield* cluster.startServer("h1", ["d1"])
      yield* fill(cluster, server, "d1", [1])
      const call = makeCaller(ChunkServerOperations.chunkServerStatus)
      const { response } = yield* call({
        cluster: clusterId,
        instance: "h1",
        request: {},
        deadline: "2 seconds",
        requestId: yield* makeRequestId
      }).pipe(Effect.provide(server.context))
      assert.deepInclude(response.devices[0], { state: "serving", copies: 1, used: 10 })
      assert.deepStrictEqual(response.commands, { copies: 0, deletions: 0, verifications: 0 })
    })
  )
})
