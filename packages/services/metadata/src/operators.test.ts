/** What operators ask over the wire: modes of devices, what keeps a drain, forgetting. */
import { assert, describe, it } from "@effect/vitest"
import { MetadataOperations } from "@holdfast/wire"
import { Effect } from "effect"
import { ask, makePuppet, makeWorld, type Puppet, ready, write } from "./testing/world.ts"

const { createFile, devices, drain, drainBlockers, locate, offline, remove, thaw } =
  MetadataOperations

const running = Effect.gen(function* () {
  const world = yield* makeWorld()
  yield* world.start({ map: { staleAfterMs: 300, deadAfterMs: 60_000 } })
  const puppets = ["a", "b"].map(makePuppet)
  const use = Effect.provide(world.client)
  for (const puppet of puppets) yield* use(puppet.join())
  yield* use(ready)
  return { puppets, use }
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
