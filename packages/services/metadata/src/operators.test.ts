/** What operators ask over the wire: modes of devices, what keeps a drain, forgetting. */
import { assert, describe, it } from "@effect/vitest"
import { MetadataOperations } from "@holdfast/wire"
import { Effect } from "effect"
import { PrometheusMetrics } from "effect/observability"
import { showLoop, showState } from "./metrics.ts"
import { ask, makePuppet, makeWorld, type Puppet, ready, write } from "./testing/world.ts"

const { createFile, devices, drain, drainBlockers, locate, offline, remove, thaw } =
  MetadataOperations
const { hosts, inspectChunk, safeMode, status, troubledChunks } = MetadataOperations

const running = Effect.gen(function* () {
  const world = yield* makeWorld()
  const service = yield* world.start({ map: { staleAfterMs: 300, deadAfterMs: 60_000 } })
  const puppets = ["a", "b"].map(makePuppet)
  const use = Effect.provide(world.client)
  for (const puppet of puppets) yield* use(puppet.join())
  yield* use(ready)
  return { puppets, service, use }
})

/** A sign of life; every copy and deletion that is told is carried out at once. */
const obey = (puppet: Puppet) =>
  Effect.gen(function* () {
    const { commands } = yield* puppet.beat()
    const outcomes = commands.map((command) => {
      const { commandId, deviceId } = command
      if (command._tag === "Copy") puppet.store(command.chunk)
      if (command._tag === "Delete") {
        const { fileId, chunkId, version } = command.chunk
        puppet.copies.delete(`${fileId}/${chunkId}@${version}`)
      }
      return { commandId, deviceId, epoch: 1, outcome: { _tag: "Done" } as const }
    })
    if (outcomes.length > 0) yield* puppet.beat(outcomes)
  })

const deviceNamed = (name: string) =>
  Effect.map(ask(devices, { limit: 100 }), (page) =>
    page.devices.find(({ deviceId }) => deviceId === name)
  )

/** Signs of life until a device is as it should be; the test's own deadline bounds it. */
const until = (puppets: ReadonlyArray<Puppet>, name: string, mode: string) =>
  Effect.gen(function* () {
    for (;;) {
      for (const puppet of puppets) yield* obey(puppet)
      const device = yield* deviceNamed(name)
      if (device?.mode === mode) return device
      yield* Effect.sleep(10)
    }
  })

describe("operators", () => {
  it.live("metadata-B47: a drain names what keeps it, ends, and the device can be forgotten", () =>
    Effect.gen(function* () {
      const { puppets, use } = yield* running
      yield* use(
        Effect.gen(function* () {
          const [a, b] = puppets
          const { fileId } = yield* ask(createFile, {})
          const { chunk } = yield* write(puppets, fileId)
          const { deviceId } = a!
          assert.deepStrictEqual(yield* ask(drain, { deviceId }), { belowGoal: 1 })
          const kept = yield* ask(drainBlockers, { deviceId, limit: 10 })
          const named = { fileId, chunkId: chunk.chunkId, version: chunk.version }
          assert.deepStrictEqual(kept, {
            blockers: [
              {
                chunk: named,
                reason: "no-device-takes-it",
                sentence: "no device that holds no copy takes new ones and has room"
              }
            ]
          })
          const early = yield* Effect.flip(ask(remove, { deviceId }))
          assert.strictEqual("code" in early ? early.code : "", "device-in-use")
          const third = makePuppet("c")
          yield* third.join()
          const drained = yield* until([a!, b!, third], "a", "removed")
          assert.strictEqual(drained.state, "dead")
          const { holders } = yield* ask(locate, chunk)
          assert.deepStrictEqual(holders.map(({ deviceId: id }) => id).sort(), ["b", "c"])
          yield* Effect.sleep(400)
          yield* ask(remove, { deviceId })
          assert.isUndefined(yield* deviceNamed("a"))
        })
      )
    })
  )

  it.live("a drain is ended by a thaw, and so is being offline", () =>
    Effect.gen(function* () {
      const { puppets, use } = yield* running
      yield* use(
        Effect.gen(function* () {
          const { deviceId } = puppets[0]!
          yield* write(puppets, (yield* ask(createFile, {})).fileId)
          yield* ask(drain, { deviceId })
          assert.strictEqual((yield* deviceNamed("a"))?.mode, "draining")
          yield* ask(thaw, { deviceId })
          assert.strictEqual((yield* deviceNamed("a"))?.mode, "normal")
          assert.deepStrictEqual(yield* ask(offline, { deviceId }), { belowGoal: 1 })
          assert.strictEqual((yield* puppets[0]!.beat()).refused.length, 1)
          yield* ask(thaw, { deviceId })
          yield* puppets[0]!.join()
          assert.strictEqual((yield* deviceNamed("a"))?.state, "online")
        })
      )
    })
  )
})

describe("looking into the map", () => {
  it.live("metadata-W41: hosts, one chunk with its copies, those with a reason, counts", () =>
    Effect.gen(function* () {
      const { puppets, use } = yield* running
      yield* use(
        Effect.gen(function* () {
          const { fileId } = yield* ask(createFile, {})
          const { chunk } = yield* write(puppets, fileId)
          const page = yield* ask(hosts, { limit: 1 })
          assert.strictEqual(page.more, true)
          assert.deepInclude(page.hosts[0], { hostId: "host-a", live: true, devices: 1, copies: 1 })
          const key = { fileId, chunkId: chunk.chunkId }
          const well = yield* ask(inspectChunk, key)
          assert.notProperty(well, "reason")
          assert.deepStrictEqual(
            well.copies.map(({ deviceId, state }) => `${deviceId} ${state}`),
            ["a valid", "b valid"]
          )
          yield* ask(offline, { deviceId: puppets[0]!.deviceId })
          const { chunks, next } = yield* ask(troubledChunks, { limit: 10 })
          assert.isUndefined(next)
          assert.deepStrictEqual(chunks, [
            {
              chunk,
              goal: 2,
              copies: 1,
              reason: "no-device-takes-it",
              sentence: "no device that holds no copy takes new ones and has room"
            }
          ])
          assert.deepStrictEqual(
            (yield* ask(troubledChunks, { limit: 10, reason: "missing" })).chunks,
            []
          )
          const seen = yield* ask(status, {})
          assert.deepInclude(seen.chunks, { known: 1, belowGoal: 1, badlySpread: 0 })
          assert.deepInclude(seen.pending, { deletions: 0, oldestDeletionMs: 0, freed: 0 })
          yield* ask(safeMode, { action: "enter" })
          const held = yield* ask(inspectChunk, key)
          assert.strictEqual(held.reason, "safe-mode")
        })
      )
    })
  )

  it.live("metadata-W42: metrics show chunks by health, repair and deletions", () =>
    Effect.gen(function* () {
      const { puppets, service, use } = yield* running
      yield* use(
        Effect.gen(function* () {
          yield* write(puppets, (yield* ask(createFile, {})).fileId)
          yield* ask(offline, { deviceId: puppets[0]!.deviceId })
        })
      )
      yield* showState(service.state())
      yield* showLoop({ canWrite: service.canWrite(), violations: 0 })
      const text = yield* PrometheusMetrics.format()
      for (const line of [
        'holdfast_metadata_chunks{health="belowGoal"} 1',
        'holdfast_metadata_chunks{health="atGoal"} 0',
        "holdfast_metadata_pending_deletions 0",
        "holdfast_metadata_oldest_deletion_seconds 0",
        "holdfast_metadata_repair_copies 0",
        'holdfast_metadata_devices{state="dead"} 1',
        'holdfast_metadata_hosts{state="live"} 2',
        'holdfast_metadata_pending{kind="reservations"} 0',
        "holdfast_metadata_journal_writable 1",
        "holdfast_metadata_broken_invariants 0",
        "holdfast_metadata_safe_mode 0"
      ]) {
        assert.include(text, line)
      }
      assert.include(text, 'holdfast_metadata_repair_waiting{urgency="only-copy"}')
    })
  )
})
