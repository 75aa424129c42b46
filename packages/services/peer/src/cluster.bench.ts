/**
 * Three peer processes and one NATS server on one machine, every write fsynced by a majority,
 * beside compare-and-set on a JetStream key-value bucket with three replicas on three servers.
 */
import { filePartitionStore } from "@holdfast/adapter-file"
import { NatsConnections, natsMessagingLayer } from "@holdfast/adapter-nats"
import type { Messaging } from "@holdfast/messaging"
import { figuresOf } from "@holdfast/suites/figures"
import { makeCaller, makeRequestId, PeerOperations } from "@holdfast/wire"
import { Kvm } from "@nats-io/kv"
import { connect } from "@nats-io/transport-node"
import { Effect, Layer } from "effect"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { keyOf } from "./testing/cluster.ts"
import { freePort, startNatsServer } from "../../../adapters/nats/src/testing/nats-server.ts"
import { benchPeers, runBenchPeer, spawnBenchPeer } from "./testing/processes.ts"

const say = figuresOf("peer cluster")
const SECONDS = 4
const IN_FLIGHT = 64
const KEYS = 1_000

const messaging = (url: string, name: string): Layer.Layer<Messaging> =>
  natsMessagingLayer().pipe(
    Layer.provide(NatsConnections.layer({ servers: [url], name })),
    Layer.orDie
  )

/** Runs `step` in flight for a while; how often it ended in a second. */
const rateOf = async (
  step: (index: number) => Promise<void>,
  seconds = SECONDS
): Promise<number> => {
  const end = performance.now() + seconds * 1_000
  let done = 0
  let next = 0
  const worker = async (): Promise<void> => {
    while (performance.now() < end) {
      await step(next++)
      done += 1
    }
  }
  await Promise.all(Array.from({ length: IN_FLIGHT }, worker))
  return done / seconds
}

const callRequest = makeCaller(PeerOperations.request)

const benchPeersOnNats = async (): Promise<{ readonly single: number; readonly many: number }> => {
  const server = await startNatsServer()
  const directory = mkdtempSync(join(tmpdir(), "peer-bench-"))
  const file = fileURLToPath(import.meta.url)
  const children = await Promise.all(
    benchPeers.map((name) => spawnBenchPeer(file, [name, server.url, join(directory, name)]))
  )
  const services = await Effect.runPromise(
    Effect.scoped(
      Effect.gen(function* () {
        const context = yield* Layer.build(messaging(server.url, "client"))
        const run = Effect.runPromiseWith(context)
        const add = (events: ReadonlyArray<number>) => (index: number) =>
          run(
            Effect.gen(function* () {
              yield* callRequest({
                cluster: "c1",
                instance: benchPeers[index % benchPeers.length] ?? "a",
                deadline: 20_000,
                requestId: yield* makeRequestId,
                request: {
                  application: "counter",
                  key: keyOf(index % KEYS),
                  events,
                  writeConcern: "majority",
                  hops: []
                }
              })
            })
          )
        const one = add([1])
        const sixteen = add(Array.from({ length: 16 }, () => 1))
        yield* Effect.promise(() => rateOf(one, 3))
        const single = yield* Effect.promise(() => rateOf(one))
        const many = 16 * (yield* Effect.promise(() => rateOf(sixteen)))
        return { single, many }
      })
    )
  )
  for (const child of children) child.kill("SIGKILL")
  await server.stop()
  rmSync(directory, { recursive: true, force: true })
  return services
}

const benchKeyValue = async (): Promise<number> => {
  const ports = await Promise.all([freePort(), freePort(), freePort()])
  const routes = ports.map((port) => `nats://127.0.0.1:${port}`).join(", ")
  const servers = await Promise.all(
    ports.map((port, index) =>
      startNatsServer({
        configuration: `server_name: n${index}\ncluster { name: c, listen: 127.0.0.1:${port}, routes: [${routes}] }`
      })
    )
  )
  const connection = await connect({ servers: servers.map(({ url }) => url) })
  const open = async (left: number): Promise<Awaited<ReturnType<Kvm["create"]>>> => {
    try {
      return await new Kvm(connection).create("bench", { replicas: 3 })
    } catch (cause) {
      if (left === 0) throw cause
      await new Promise((resolve) => setTimeout(resolve, 500))
      return open(left - 1)
    }
  }
  const bucket = await open(40)
  const revisions = new Map<number, number>()
  const busy = new Set<number>()
  const update = async (index: number): Promise<void> => {
    let key = index % KEYS
    while (busy.has(key)) key = (key + 1) % KEYS
    busy.add(key)
    const known = revisions.get(key)
    const revision =
      known === undefined
        ? await bucket.create(`k${key}`, "1")
        : await bucket.update(`k${key}`, String(known), known)
    revisions.set(key, revision)
    busy.delete(key)
  }
  await rateOf(update, 2)
  const rate = await rateOf(update)
  await connection.close()
  for (const server of servers) await server.stop()
  return rate
}

const [name, url, directory] = process.argv.slice(2)
if (name !== undefined && url !== undefined && directory !== undefined) {
  const ports = Layer.merge(messaging(url, name), filePartitionStore({ directory }))
  await runBenchPeer(name, ports)
} else {
  const keyValue = await benchKeyValue()
  say({
    what: "JetStream key-value, 3 replicas, compare-and-set, no fsync",
    value: keyValue,
    unit: "updates a second"
  })
  const { many, single } = await benchPeersOnNats()
  say({
    what: "three peers, majority, fsynced, 1,000 keys, 64 in flight",
    value: single,
    unit: "updates a second"
  })
  say({
    what: "  against the bucket",
    value: single / keyValue,
    unit: "times",
    bar: { atLeast: 1 }
  })
  say({ what: "  16 events a request", value: many, unit: "updates a second" })
  say({
    what: "  16 events a request, against the bucket",
    value: many / keyValue,
    unit: "times",
    bar: { atLeast: 5 }
  })
}
