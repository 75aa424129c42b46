/** Updates a second of peers in one process on memory adapters: what the peer itself costs. */
import * as memory from "@holdfast/adapter-memory"
import { Effect } from "effect"
import { keyOf, makeCluster, makeWorld } from "./testing/cluster.ts"

const report = (name: string, figure: number, unit: string): void =>
  console.log(`${name.padEnd(60)} ${figure.toFixed(0).padStart(9)} ${unit}`)

const measure = (
  peers: ReadonlyArray<string>,
  options: { readonly events: number; readonly requests: number; readonly inFlight: number }
) =>
  Effect.scoped(
    Effect.gen(function* () {
      const world = yield* makeWorld(memory)
      const cluster = yield* makeCluster(world, peers, {
        times: {
          gossipMillis: 1_000,
          helloMillis: 1_000,
          silentMillis: 3_500,
          settleMillis: 250,
          resendMillis: 1_000,
          flushMillis: 50,
          requestMillis: 10_000,
          replicationMillis: 5_000
        }
      })
      const events = Array.from({ length: options.events }, () => 1)
      const begin = performance.now()
      const cpu = process.cpuUsage()
      yield* Effect.forEach(
        Array.from({ length: options.requests }, (_, index) => index),
        (index) =>
          cluster.add(keyOf(index % 1_000), events, {
            at: peers[index % peers.length]!,
            millis: 10_000
          }),
        { concurrency: options.inFlight, discard: true }
      )
      const used = process.cpuUsage(cpu)
      report("  CPU a request", (used.user + used.system) / options.requests, "us")
      return ((options.requests * options.events) / (performance.now() - begin)) * 1_000
    })
  )

const program = Effect.gen(function* () {
  const base = { events: 1, requests: 4_000, inFlight: 64 }
  yield* measure(["a"], { ...base, requests: 1_000 })
  report("one peer, 1 event a request, 64 in flight", yield* measure(["a"], base), "updates/s")
  const three = yield* measure(["a", "b", "c"], base)
  report("three peers, majority, 1 event a request, 64 in flight", three, "updates/s")
  const batched = yield* measure(["a", "b", "c"], { ...base, events: 16 })
  report("  16 events a request", batched, `updates/s (${(batched / three).toFixed(1)} times)`)
})
await Effect.runPromise(program)
