/** What a chunk server shows to a scraper. */
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect } from "effect"
import { PrometheusMetrics } from "effect/observability"
import {
  chunkNamed,
  damage,
  makeCluster,
  patterned,
  read,
  target,
  write
} from "./testing/cluster-fixture.ts"

const valueOf = (name: string) =>
  Effect.map(PrometheusMetrics.format(), (text) => {
    const line = text.split("\n").find((one) => one.startsWith(`holdfast_chunk_server_${name} `))
    return Number(line?.split(" ")[1] ?? Number.NaN)
  })

/** Waits until a value is shown; the test's own deadline bounds it. */
const shows = (name: string, isRight: (value: number) => boolean): Effect.Effect<void> =>
  Effect.flatMap(valueOf(name), (value) =>
    isRight(value) ? Effect.void : Effect.andThen(Effect.sleep("5 millis"), shows(name, isRight))
  )

const is = (wanted: number) => (value: number) => value === wanted

describe("the metrics of a chunk server", () => {
  it.live("metadata-W42, metadata-B36: devices, bytes, reads, and copies that are bad", () =>
    Effect.gen(function* () {
      const cluster = yield* makeCluster
      const settings = { showEvery: Duration.millis(10) }
      const server = yield* cluster.startServer("h1", ["d1"], { settings })
      const [chunk, bytes] = [chunkNamed(7), patterned(200_000)]
      yield* write(cluster, chunk, bytes, [target(server, "d1", chunk, "write")])
      const source = target(server, "d1", chunk, "read")
      yield* read(cluster, chunk, source)
      yield* shows('copies{device="d1"}', is(1))
      yield* shows('used_bytes{device="d1"}', (value) => value >= bytes.length)
      yield* shows('available_bytes{device="d1"}', (value) => value > 0)
      yield* shows('serving{device="d1"}', is(1))
      yield* shows('commands{kind="copies"}', is(0))
      yield* shows("heartbeat_age_seconds", (value) => value >= 0)
      yield* shows("reads_total", is(1))
      yield* shows("written_bytes_total", is(bytes.length))
      assert.strictEqual(yield* valueOf('bad_copies{device="d1"}'), 0)
      yield* damage(server.disk, "d1", chunk)
      yield* Effect.flip(Effect.asVoid(read(cluster, chunk, source)))
      yield* shows('bad_copies{device="d1"}', is(1))
    })
  )
})
