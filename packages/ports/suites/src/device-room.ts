/** The ChunkDevices contract's room: capacity, the floor, reservations. */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import type { ChunkDevicesContract } from "./chunk-devices-contract.ts"
import {
  chunk,
  codeOf,
  type DeviceStorage,
  format,
  load,
  open,
  patterned,
  store
} from "./devices.ts"

/** Promise 3. */
export const describeDeviceRoom = <Storage extends DeviceStorage>(
  contract: ChunkDevicesContract<Storage>
): void => {
  const limited = (limits: { readonly capacityBytes: number; readonly reservedBytes?: number }) =>
    Effect.gen(function* () {
      const storage = yield* contract.storage
      yield* format(storage)
      return yield* open(storage, limits)
    })

  it.live("3: a write that would pass the floor is full before any byte is taken", () =>
    Effect.gen(function* () {
      const device = yield* limited({ capacityBytes: 1_000, reservedBytes: 100 })
      assert.strictEqual((yield* device.usage).available, 900)
      const tooLarge = Effect.scoped(device.begin({ chunk: chunk(1), expectedBytes: 901 }))
      assert.strictEqual(yield* codeOf(tooLarge), "full")
      yield* store(device, chunk(1), patterned(900))
      assert.strictEqual(yield* codeOf(store(device, chunk(2), patterned(1))), "full")
      assert.deepStrictEqual(yield* load(device, chunk(1)), patterned(900))
      yield* device.remove(chunk(1))
      yield* store(device, chunk(3), patterned(900))
    })
  )

  it.live("3: room is reserved while a write runs, and given back when it ends unfinished", () =>
    Effect.gen(function* () {
      const device = yield* limited({ capacityBytes: 1_000 })
      yield* Effect.scoped(
        Effect.gen(function* () {
          const writer = yield* device.begin({ chunk: chunk(1), expectedBytes: 600 })
          yield* writer.write(patterned(100))
          assert.strictEqual((yield* device.usage).available, 400)
          assert.strictEqual(yield* codeOf(store(device, chunk(2), patterned(401))), "full")
          yield* store(device, chunk(3), patterned(400))
        })
      )
      assert.strictEqual((yield* device.usage).available, 600)
      assert.strictEqual(yield* codeOf(device.describe(chunk(1))), "not-found")
    })
  )

  it.live("3: a write may be shorter than expected; the rest of its room is given back", () =>
    Effect.gen(function* () {
      const device = yield* limited({ capacityBytes: 1_000 })
      yield* store(device, chunk(1), patterned(10), 900)
      const { used, available, copies } = yield* device.usage
      assert.deepStrictEqual([used, available, copies], [10, 990, 1])
    })
  )

  it.live("3: bytes past the expected ones are out-of-range and end the write", () =>
    Effect.gen(function* () {
      const device = yield* limited({ capacityBytes: 1_000 })
      yield* Effect.scoped(
        Effect.gen(function* () {
          const writer = yield* device.begin({ chunk: chunk(1), expectedBytes: 600 })
          yield* writer.write(patterned(600))
          assert.strictEqual(yield* codeOf(writer.write(patterned(1))), "out-of-range")
          assert.strictEqual(yield* codeOf(writer.finish), "closed")
        })
      )
      assert.strictEqual(yield* codeOf(device.describe(chunk(1))), "not-found")
      assert.strictEqual((yield* device.usage).available, 1_000)
    })
  )

  it.live("`usage` is the sum of the copies, and the same after a reopen", () =>
    Effect.gen(function* () {
      const storage = yield* contract.storage
      yield* format(storage)
      const limits = { capacityBytes: 1_000_000, reservedBytes: 1_000 }
      const usage = yield* Effect.scoped(
        Effect.gen(function* () {
          const device = yield* open(storage, limits)
          for (const length of [0, 10, 100_000]) {
            yield* store(device, chunk(length + 1), patterned(length))
          }
          yield* device.remove(chunk(11))
          return yield* device.usage
        })
      )
      assert.deepStrictEqual(usage, {
        capacity: 1_000_000,
        used: 100_000,
        available: 899_000,
        copies: 2
      })
      const device = yield* open(storage, limits)
      assert.deepStrictEqual(yield* device.usage, usage)
    })
  )
}
