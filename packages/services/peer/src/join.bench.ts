/**
 * A fourth peer joins three that hold 10,000 partitions: each a process of its own on one NATS
 * server, its store fsynced on one disk. From the start of its process the clock runs until all
 * agree that it holds its three quarters of the keys; meanwhile 16 writers go on, and no request
 * may fail.
 */
import { filePartitionStore } from "@holdfast/adapter-file"
import { NatsConnections, natsMessagingLayer } from "@holdfast/adapter-nats"
import type { Messaging } from "@holdfast/messaging"
import { figuresOf } from "@holdfast/suites/figures"
import { makeCaller, makeRequestId, PeerMembershipOperations, PeerOperations } from "@holdfast/wire"
import { Effect, Fiber, Layer, Result } from "effect"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { keyOf } from "./testing/cluster.ts"
import { startNatsServer } from "../../../adapters/nats/src/testing/nats-server.ts"
import { benchPeers, runBenchPeer, spawnBenchPeer } from "./testing/processes.ts"

const say = figuresOf("peer join")
const PARTITIONS = 10_000
const FILLERS = 256
const WRITERS = 16
const JOIN_MILLIS_MAX = 120_000

const messaging = (url: string, name: string): Layer.Layer<Messaging> =>
  natsMessagingLayer().pipe(
    Layer.provide(NatsConnections.layer({ servers: [url], name })),
    Layer.orDie
  )

const callRequest = makeCaller(PeerOperations.request)
const callCluster = makeCaller(PeerMembershipOperations.cluster)

const add = Effect.fnUntraced(function* (number: number) {
  yield* callRequest({
    cluster: "c1",
    instance: benchPeers[number % benchPeers.length] ?? "a",
    deadline: 20_000,
    requestId: yield* makeRequestId,
    request: {
      application: "counter",
      key: keyOf(number),
      events: [1],
      writeConcern: "majority",
      hops: []
    }
  })
})

/** Whether all that the newcomer gains is with it, by what a peer knows all to agree on. */
const hasJoined = Effect.gen(function* () {
  const { response } = yield* callCluster({
    cluster: "c1",
    instance: "a",
    deadline: 5_000,
    requestId: yield* makeRequestId,
    request: {}
  })
  return response.step === null && response.epoch > 0
})

/** Writes until it is interrupted; counts what failed. */
const writeOn = (counts: { done: number; failed: number }) =>
  Effect.forEach(
    Array.from({ length: WRITERS }, (_, writer) => writer),
    (writer) =>
      Effect.forever(
        Effect.gen(function* () {
          const number = (counts.done * WRITERS + writer) % PARTITIONS
          const result = yield* Effect.result(add(number))
          counts.done += 1
          if (Result.isFailure(result)) counts.failed += 1
        })
      ),
    { concurrency: "unbounded", discard: true }
  )

const bench = (spawnNewcomer: () => Promise<unknown>) =>
  Effect.gen(function* () {
    yield* Effect.forEach(
      Array.from({ length: PARTITIONS }, (_, number) => number),
      add,
      {
        concurrency: FILLERS,
        discard: true
      }
    )
    const counts = { done: 0, failed: 0 }
    const writing = yield* Effect.forkChild(writeOn(counts))
    const start = performance.now()
    yield* Effect.promise(spawnNewcomer)
    while (!(yield* hasJoined)) {
      if (performance.now() - start > JOIN_MILLIS_MAX) throw new Error("the fourth never joined")
      yield* Effect.sleep(50)
    }
    const seconds = (performance.now() - start) / 1_000
    yield* Fiber.interrupt(writing)
    return { ...counts, seconds }
  })

const [name, url, directory] = process.argv.slice(2)
if (name !== undefined && url !== undefined && directory !== undefined) {
  const ports = Layer.merge(messaging(url, name), filePartitionStore({ directory }))
  await runBenchPeer(name, ports)
} else {
  const server = await startNatsServer()
  const folder = mkdtempSync(join(tmpdir(), "peer-join-"))
  const spawnPeer = (peer: string) =>
    spawnBenchPeer(fileURLToPath(import.meta.url), [peer, server.url, join(folder, peer)])
  const children = await Promise.all(benchPeers.map(spawnPeer))
  const { done, failed, seconds } = await Effect.runPromise(
    bench(async () => children.push(await spawnPeer("d"))).pipe(
      Effect.provide(messaging(server.url, "client")),
      Effect.scoped
    )
  )
  for (const child of children) child.kill("SIGKILL")
  await server.stop()
  rmSync(folder, { recursive: true, force: true })
  say({
    what: "a fourth peer joins 10,000 partitions",
    value: seconds,
    unit: "s",
    bar: { atMost: 10 }
  })
  say({ what: "  requests that failed meanwhile", value: failed, unit: "", bar: { atMost: 0 } })
  say({ what: "  writes a second meanwhile", value: done / seconds, unit: "a second" })
}
