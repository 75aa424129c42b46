import { crc32 } from "node:zlib"
import { assert, describe, it } from "@effect/vitest"
import { ringOfOne, verifyReceipt } from "@holdfast/wire"
import { Clock, Effect, Stream } from "effect"
import {
  capability,
  chunkNamed,
  clusterId,
  damage,
  mac,
  makeCluster,
  patterned,
  read,
  summary,
  target,
  write,
  eventually
} from "./testing/cluster-fixture.ts"
import { digestOf } from "./testing/metadata-double.ts"

const chunk = chunkNamed(7)
const bytes = patterned(200_000)

/** Runs an effect by a wall clock that is an hour ahead. */
const withClockAhead = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.flatMap(Clock.Clock, (clock) => {
    const hour = 3_600_000
    const ahead: Clock.Clock = {
      currentTimeMillisUnsafe: () => clock.currentTimeMillisUnsafe() + hour,
      currentTimeMillis: Effect.map(clock.currentTimeMillis, (now) => now + hour),
      currentTimeNanosUnsafe: () => clock.currentTimeNanosUnsafe(),
      currentTimeNanos: clock.currentTimeNanos,
      monotonicTimeNanosUnsafe: () => clock.monotonicTimeNanosUnsafe(),
      monotonicTimeNanos: clock.monotonicTimeNanos,
      sleep: (duration) => clock.sleep(duration)
    }
    return Effect.provideService(effect, Clock.Clock, ahead)
  })

describe("the data path of chunk servers", () => {
  it.live("a chain stores a copy on each device, with receipts that prove it", () =>
    Effect.gen(function* () {
      const cluster = yield* makeCluster
      const first = yield* cluster.startServer("h1", ["d1"])
      const second = yield* cluster.startServer("h2", ["d2"])
      const outcomes = yield* write(cluster, chunk, bytes, [
        target(first, "d1", chunk, "write"),
        target(second, "d2", chunk, "write")
      ])
      for (const [index, outcome] of outcomes.entries()) {
        assert.strictEqual(outcome._tag, "Stored")
        if (outcome._tag !== "Stored") continue
        const { deviceId, epoch, chunk: stored, proof } = outcome.receipt
        assert.deepStrictEqual(
          [deviceId, epoch, stored],
          [`d${index + 1}`, 1, { ...chunk, length: bytes.length, checksum: crc32(bytes) }]
        )
        const receipt = { clusterId, deviceId, epoch, ...stored }
        const ring = ringOfOne(mac)
        assert.isTrue(verifyReceipt({ ring, proof, receipt }))
        assert.isFalse(verifyReceipt({ ring, proof, receipt: { ...receipt, epoch: 2 } }))
      }
      for (const [at, deviceId] of [
        [first, "d1"],
        [second, "d2"]
      ] as const) {
        const source = target(at, deviceId, chunk, "read")
        assert.deepStrictEqual(yield* read(cluster, chunk, source), bytes)
      }
    })
  )

  it.live("a new copy is told at once, and the digest is the sum of what is held", () =>
    Effect.gen(function* () {
      const cluster = yield* makeCluster
      const server = yield* cluster.startServer("h1", ["d1"])
      for (const name of [chunk, chunkNamed(8), chunk]) {
        yield* write(cluster, name, bytes, [target(server, "d1", name, "write")])
      }
      const { heartbeats } = cluster.metadata
      const wanted = digestOf([chunk, chunkNamed(8)])
      const held = () => heartbeats.at(-1)?.devices[0]?.digest
      yield* eventually(() => held()?.count === 2)
      assert.deepStrictEqual(held(), wanted)
      const added = () =>
        heartbeats.flatMap(({ changes }) => changes).filter((change) => change._tag === "Added")
      yield* eventually(() => added().some((change) => change.chunk.fileId === 8))
      assert.isTrue(added().some((change) => change.chunk.fileId === 7))
    })
  )

  it.live("metadata-B51: what one device of a chain refuses touches no other", () =>
    Effect.gen(function* () {
      const cluster = yield* makeCluster
      const full = yield* cluster.startServer("h1", ["d1"], { capacityBytes: 1_000 })
      const good = yield* cluster.startServer("h2", ["d2"])
      const targets = [target(full, "d1", chunk, "write"), target(good, "d2", chunk, "write")]
      assert.deepStrictEqual(summary(yield* write(cluster, chunk, bytes, targets)), [
        "d1 full",
        "d2 stored"
      ])
      const other = chunkNamed(8)
      const back = [target(good, "d2", other, "write"), target(full, "d1", other, "write")]
      assert.deepStrictEqual(summary(yield* write(cluster, other, bytes, back)), [
        "d2 stored",
        "d1 full"
      ])
    })
  )

  it.live("metadata-W45: without the right capability nothing is read or written", () =>
    Effect.gen(function* () {
      const cluster = yield* makeCluster
      const server = yield* cluster.startServer("h1", ["d1", "d2"])
      const right = target(server, "d1", chunk, "write")
      const wrong = [
        capability("d1", chunk, "read"),
        capability("d2", chunk, "write"),
        capability("d1", chunkNamed(7, 2), "write"),
        capability("d1", chunk, "write", -10),
        "nonsense"
      ]
      for (const token of wrong) {
        const targets = [{ ...right, capability: token }]
        assert.deepStrictEqual(summary(yield* write(cluster, chunk, bytes, targets)), ["d1 denied"])
      }
      const mixed = [right, { ...target(server, "d2", chunk, "write"), capability: "nonsense" }]
      assert.deepStrictEqual(summary(yield* write(cluster, chunk, bytes, mixed)), [
        "d1 stored",
        "d2 denied"
      ])
      const error = yield* Effect.flip(read(cluster, chunk, right))
      assert.strictEqual(error.code, "denied")
    })
  )

  it.live(
    "what a write allows lapses by the metadata service's time, whatever the own clock says",
    () =>
      Effect.gen(function* () {
        const cluster = yield* makeCluster
        const server = yield* withClockAhead(cluster.startServer("h1", ["d1"]))
        yield* eventually(() => cluster.metadata.heartbeats.length > 1)
        const targets = [target(server, "d1", chunk, "write")]
        assert.deepStrictEqual(summary(yield* write(cluster, chunk, bytes, targets)), ["d1 stored"])
        const source = target(server, "d1", chunk, "read")
        const lapsed = { ...source, capability: capability("d1", chunk, "read", -5) }
        assert.strictEqual((yield* Effect.flip(read(cluster, chunk, lapsed))).code, "denied")
      })
  )

  it.live("a server whose clock is wrong turns away its own copy, and no other's", () =>
    Effect.gen(function* () {
      const cluster = yield* makeCluster
      cluster.metadata.tellsTime = false
      const first = yield* withClockAhead(cluster.startServer("h1", ["d1"]))
      const second = yield* cluster.startServer("h2", ["d2"])
      const targets = [target(first, "d1", chunk, "write"), target(second, "d2", chunk, "write")]
      assert.deepStrictEqual(summary(yield* write(cluster, chunk, bytes, targets)), [
        "d1 denied",
        "d2 stored"
      ])
    })
  )

  it.live("a device that is not here, and a chunk that is not on it, have their codes", () =>
    Effect.gen(function* () {
      const cluster = yield* makeCluster
      const server = yield* cluster.startServer("h1", ["d1"])
      const elsewhere = target(server, "d9", chunk, "write")
      assert.deepStrictEqual(summary(yield* write(cluster, chunk, bytes, [elsewhere])), [
        "d9 unavailable"
      ])
      const error = yield* Effect.flip(read(cluster, chunk, target(server, "d1", chunk, "read")))
      assert.strictEqual(error.code, "not-found")
    })
  )

  it.live("metadata-B36: damage that a read meets is refused, and told once", () =>
    Effect.gen(function* () {
      const cluster = yield* makeCluster
      const server = yield* cluster.startServer("h1", ["d1"])
      yield* write(cluster, chunk, bytes, [target(server, "d1", chunk, "write")])
      yield* damage(server.disk, "d1", chunk)
      const source = target(server, "d1", chunk, "read")
      for (let attempt = 0; attempt < 3; attempt += 1) {
        const error = yield* Effect.flip(Effect.asVoid(read(cluster, chunk, source)))
        assert.strictEqual(error.code, "corrupt")
      }
      const { heartbeats } = cluster.metadata
      const seen = heartbeats.length
      yield* eventually(() => heartbeats.length > seen + 3)
      const sequences = heartbeats.flatMap(({ changes }) =>
        changes.filter((change) => change._tag === "Bad")
      )
      assert.strictEqual(sequences.length, 1)
    })
  )

  it.live("damage is told again after a report: whoever asked for it has forgotten", () =>
    Effect.gen(function* () {
      const cluster = yield* makeCluster
      const server = yield* cluster.startServer("h1", ["d1"])
      yield* write(cluster, chunk, bytes, [target(server, "d1", chunk, "write")])
      yield* damage(server.disk, "d1", chunk)
      yield* Effect.flip(Effect.asVoid(read(cluster, chunk, target(server, "d1", chunk, "read"))))
      const { heartbeats } = cluster.metadata
      const told = () =>
        heartbeats.filter(({ changes }) => changes.some(({ _tag }) => _tag === "Bad")).length
      yield* eventually(() => told() > 0)
      const before = told()
      cluster.metadata.forget("d1")
      yield* eventually(() => cluster.metadata.reports.has("d1"))
      yield* eventually(() => told() > before)
    })
  )

  it.live("metadata-B53: fewer bytes than announced are no copy", () =>
    Effect.gen(function* () {
      const cluster = yield* makeCluster
      const server = yield* cluster.startServer("h1", ["d1"])
      const [outcome] = yield* write(cluster, chunk, bytes, [target(server, "d1", chunk, "write")])
      assert.strictEqual(outcome?._tag, "Stored")
      const other = chunkNamed(9)
      const short = yield* cluster.transport.write({
        chunk: other,
        length: 10,
        targets: [target(server, "d1", other, "write")],
        data: Stream.make(patterned(9)),
        deadline: "2 seconds"
      })
      assert.deepStrictEqual(summary(short), ["d1 invalid"])
      const error = yield* Effect.flip(read(cluster, other, target(server, "d1", other, "read")))
      assert.strictEqual(error.code, "not-found")
    })
  )
})
