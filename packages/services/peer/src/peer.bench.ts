/**
 * Updates a second of peers in one process on memory adapters, 64 requests in flight: what the peer
 * itself costs.
 */
import * as memory from "@holdfast/adapter-memory"
import { figuresOf } from "@holdfast/suites/figures"
import { Effect } from "effect"
import { keyOf, makeCluster, makeWorld } from "./testing/cluster.ts"

const say = figuresOf("peer")

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
      const rate = ((options.requests * options.events) / (performance.now() - begin)) * 1_000
      return { rate, cpu: (used.user + used.system) / options.requests }
    })
  )

const sayRun = (what: string, run: { readonly rate: number; readonly cpu: number }): void => {
  say({ what, value: run.rate, unit: "updates a second" })
  say({ what: `  CPU: ${what}`, value: run.cpu, unit: "µs a request" })
}

const program = Effect.gen(function* () {
  const base = { events: 1, requests: 4_000, inFlight: 64 }
  yield* measure(["a"], { ...base, requests: 1_000 })
  const one = yield* measure(["a"], base)
  sayRun("one peer, 1 event a request", one)
  const three = yield* measure(["a", "b", "c"], base)
  sayRun("three peers, majority, 1 event a request", three)
  const batched = yield* measure(["a", "b", "c"], { ...base, events: 16 })
  sayRun("three peers, majority, 16 events a request", batched)
  say({ what: "  against 1 event a request", value: batched.rate / three.rate, unit: "times" })
})
await Effect.runPromise(program)
