import { assert, describe, it } from "@effect/vitest"
import { memoryChunkDevices, MemoryDisk } from "@holdfast/adapter-memory"
import { ChunkDeviceError, ChunkDevices, ChunkTransport, type OpenDevice } from "@holdfast/storage"
import { DeviceId } from "@holdfast/wire"
import { Duration, Effect, Layer, Option, Stream } from "effect"
import { runCommand } from "./run-command.ts"
import { scrubOnce } from "./scrub.ts"
import { defaultSettings } from "./options.ts"
import { servedDevice } from "./served-device.ts"
import { beginCopy } from "./store-copy.ts"
import { makeTelling } from "./telling.ts"
import { chunkNamed, damage, directoryOf, patterned } from "./testing/cluster-fixture.ts"

const deviceId = DeviceId.make("d1")
const chunk = chunkNamed(1)

/** An open memory device with one copy; `change` replaces some of its acts. */
const deviceWith = Effect.fnUntraced(function* (
  change: (store: OpenDevice) => Partial<OpenDevice> = () => ({})
) {
  const disk = yield* MemoryDisk.make()
  const { context } = yield* Effect.map(Layer.build(memoryChunkDevices(() => disk)), (built) => ({
    context: built
  }))
  const devices = yield* Effect.provide(ChunkDevices, context)
  const directory = directoryOf(deviceId)
  yield* devices.format({ directory, clusterId: "c1", deviceId })
  const store = yield* devices.open({
    directory,
    clusterId: "c1",
    reservedBytes: 0,
    capacityBytes: Option.none()
  })
  const plain = servedDevice(deviceId, directory, store)
  const bytes = patterned(1_000)
  yield* Effect.scoped(
    Effect.gen(function* () {
      const input = yield* beginCopy(plain, chunk, bytes.length)
      yield* input.write(bytes)
      yield* input.finish
    })
  )
  const device = servedDevice(deviceId, directory, { ...store, ...change(store) })
  return { disk, device, store, plain }
})

const unavailable = new ChunkDeviceError({
  code: "unavailable",
  deviceId,
  message: "EMFILE: too many open files"
})

const noTransport = Layer.mock(ChunkTransport)({})
const command = { commandId: "1", deviceId, chunk, deadlineMs: 1_000 }

describe("one command", () => {
  it.live("metadata-B37: a check that cannot be made is no damage", () =>
    Effect.gen(function* () {
      const { device } = yield* deviceWith(() => ({ verify: () => Effect.fail(unavailable) }))
      const outcome = yield* runCommand(device, { _tag: "Verify", ...command }, Duration.seconds(1))
      assert.deepInclude(outcome, { _tag: "Failed", code: "unavailable" })
      const telling = makeTelling()
      const pass = yield* scrubOnce(device, telling, { ...defaultSettings, scrubPeriod: tiny })
      assert.deepStrictEqual(pass, { checked: 0, bad: 0, failed: 1 })
      assert.strictEqual(telling.changes.unsent(), 0)
    }).pipe(Effect.provide(noTransport))
  )

  it.effect("metadata-B28: a deletion that the disk refuses is not acknowledged", () =>
    Effect.gen(function* () {
      const { device, plain } = yield* deviceWith(() => ({
        remove: () => Effect.fail(unavailable)
      }))
      const outcome = yield* runCommand(device, { _tag: "Delete", ...command }, Duration.seconds(1))
      assert.deepInclude(outcome, { _tag: "Failed", code: "unavailable" })
      assert.strictEqual((yield* plain.store.describe(chunk)).length, 1_000)
    }).pipe(Effect.provide(noTransport))
  )

  it.effect("one write of a copy at a time, and the ledger counts a copy once", () =>
    Effect.gen(function* () {
      const { plain } = yield* deviceWith()
      assert.strictEqual(plain.ledger.digest().count, 1)
      yield* Effect.scoped(
        Effect.gen(function* () {
          const input = yield* beginCopy(plain, chunk, 1_000)
          const second = yield* Effect.flip(Effect.scoped(beginCopy(plain, chunk, 1_000)))
          assert.strictEqual(second.code, "unavailable")
          yield* input.write(patterned(1_000))
          yield* input.finish
        })
      )
      assert.strictEqual(plain.ledger.digest().count, 1)
    })
  )
})

const tiny = Duration.millis(1)

describe("scrubbing", () => {
  it.live("metadata-B31: damage is found without a reader, and told once", () =>
    Effect.gen(function* () {
      const { device, disk, plain } = yield* deviceWith()
      const telling = makeTelling()
      const settings = { ...defaultSettings, scrubPeriod: tiny }
      assert.deepInclude(yield* scrubOnce(device, telling, settings), { checked: 1, bad: 0 })
      yield* damage(disk, deviceId, chunk)
      for (let pass = 0; pass < 3; pass += 1) {
        assert.deepInclude(yield* scrubOnce(device, telling, settings), { checked: 0, bad: 1 })
      }
      assert.strictEqual(telling.changes.unsent(), 1)
      assert.strictEqual((yield* Stream.runCollect(plain.store.list)).length, 1)
    })
  )
})
