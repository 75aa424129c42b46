/** The ChunkDevices contract's identity: format, open, epochs, one holder at a time. */
import { assert, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import type { ChunkDevicesContract } from "./chunk-devices-contract.ts"
import {
  chunk,
  clusterId,
  codeOf,
  type DeviceStorage,
  format,
  load,
  open,
  patterned,
  store
} from "./devices.ts"

/** Promises 4 and 5. */
export const describeDeviceIdentity = <Storage extends DeviceStorage>(
  contract: ChunkDevicesContract<Storage>
): void => {
  describeFormat(contract)
  describeHolders(contract)
}

const describeFormat = <Storage extends DeviceStorage>(
  contract: ChunkDevicesContract<Storage>
): void => {
  it.live("4: format makes the identity that every opening shows", () =>
    Effect.gen(function* () {
      const storage = yield* contract.storage
      const identity = yield* format(storage)
      assert.deepStrictEqual([identity.clusterId, identity.deviceId], [clusterId, "d1"])
      assert.isFalse(Number.isNaN(Date.parse(identity.created)))
      for (const _opening of [1, 2]) {
        const device = yield* Effect.scoped(open(storage))
        assert.deepStrictEqual(device.identity, identity)
      }
    })
  )

  it.live("4: a directory without an identity is not-formatted, and stays so", () =>
    Effect.gen(function* () {
      const storage = yield* contract.storage
      assert.strictEqual(yield* codeOf(open(storage)), "not-formatted")
      assert.strictEqual(yield* codeOf(open(storage)), "not-formatted")
      yield* format(storage)
      yield* open(storage)
    })
  )

  it.live("4: a formatted directory is not formatted again, and keeps its copies", () =>
    Effect.gen(function* () {
      const storage = yield* contract.storage
      const identity = yield* format(storage)
      yield* Effect.scoped(
        Effect.flatMap(open(storage), (device) => store(device, chunk(1), patterned(10)))
      )
      assert.strictEqual(yield* codeOf(format(storage)), "exists")
      assert.strictEqual(yield* codeOf(format(storage, "d1", "cluster-2")), "exists")
      const device = yield* open(storage)
      assert.deepStrictEqual(device.identity, identity)
      assert.deepStrictEqual(yield* load(device, chunk(1)), patterned(10))
    })
  )

  it.live("4: another cluster's device is foreign, and can still be opened by its own", () =>
    Effect.gen(function* () {
      const storage = yield* contract.storage
      yield* format(storage)
      const foreign = open(storage, { cluster: "cluster-2" })
      assert.strictEqual(yield* codeOf(foreign), "foreign")
      yield* open(storage)
    })
  )

  it.live("two devices of one disk are apart", () =>
    Effect.gen(function* () {
      const storage = yield* contract.storage
      yield* format(storage, "d1")
      yield* format(storage, "d2")
      const first = yield* open(storage, { name: "d1" })
      const second = yield* open(storage, { name: "d2" })
      yield* store(first, chunk(1), patterned(10))
      assert.strictEqual(yield* codeOf(second.describe(chunk(1))), "not-found")
      assert.deepStrictEqual([first.identity.deviceId, second.identity.deviceId], ["d1", "d2"])
    })
  )
}

const describeHolders = <Storage extends DeviceStorage>(
  contract: ChunkDevicesContract<Storage>
): void => {
  it.live("5: a device that is open is locked to others; after it closed it opens", () =>
    Effect.gen(function* () {
      const storage = yield* contract.storage
      yield* format(storage)
      yield* Effect.scoped(
        Effect.gen(function* () {
          yield* open(storage)
          assert.strictEqual(yield* codeOf(open(storage)), "locked")
        })
      )
      yield* open(storage)
    })
  )

  it.live("5: each opening has a higher epoch", () =>
    Effect.gen(function* () {
      const storage = yield* contract.storage
      yield* format(storage)
      const epochs: Array<number> = []
      for (const _opening of [1, 2, 3]) {
        epochs.push((yield* Effect.scoped(open(storage))).epoch)
      }
      const [first = 0, second = 0, third = 0] = epochs
      assert.isTrue(first < second && second < third, epochs.join(", "))
    })
  )

  it.live("a closed device refuses everything", () =>
    Effect.gen(function* () {
      const storage = yield* contract.storage
      yield* format(storage)
      const device = yield* Effect.scoped(
        Effect.tap(open(storage), (opened) => store(opened, chunk(1), patterned(10)))
      )
      const codes = [
        yield* codeOf(device.usage),
        yield* codeOf(device.describe(chunk(1))),
        yield* codeOf(device.verify(chunk(1))),
        yield* codeOf(load(device, chunk(1))),
        yield* codeOf(device.remove(chunk(1))),
        yield* codeOf(store(device, chunk(2), patterned(10))),
        yield* codeOf(Stream.runCollect(device.list))
      ]
      assert.deepStrictEqual(new Set(codes), new Set(["closed"]))
      const again = yield* open(storage)
      assert.deepStrictEqual(yield* load(again, chunk(1)), patterned(10))
    })
  )
}
