/**
 * The contract of the ChunkDevices port, as tests that any adapter runs. The numbers in the test
 * names are those of the port's module comment.
 */
import { crc32 } from "node:zlib"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import type { ChunkDevicesContract } from "./chunk-devices-contract.ts"
import { describeDeviceIdentity } from "./device-identity.ts"
import { describeDeviceRoom } from "./device-room.ts"
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

/** Runs the ChunkDevices contract against an adapter. */
export const describeChunkDevicesContract = <Storage extends DeviceStorage>(
  contract: ChunkDevicesContract<Storage>
): void => {
  describe(`ChunkDevices contract: ${contract.name}`, () => {
    describeCopies(contract)
    describeRanges(contract)
    describeVersions(contract)
    describeDamage(contract)
    describeDeviceIdentity(contract)
    describeDeviceRoom(contract)
  })
}

const lengths = [0, 1, 65_535, 65_536, 65_537, 300_017]

const freshDevice = <Storage extends DeviceStorage>(contract: ChunkDevicesContract<Storage>) =>
  Effect.gen(function* () {
    const storage = yield* contract.storage
    yield* format(storage)
    return { storage, device: yield* open(storage) }
  })

const describeCopies = <Storage extends DeviceStorage>(
  contract: ChunkDevicesContract<Storage>
): void => {
  it.live("1: a copy of any length comes back byte for byte, also after a reopen", () =>
    Effect.gen(function* () {
      const storage = yield* contract.storage
      yield* format(storage)
      const written = yield* Effect.scoped(
        Effect.flatMap(open(storage), (device) =>
          Effect.forEach(lengths, (length, index) =>
            store(device, chunk(index + 1), patterned(length))
          )
        )
      )
      const device = yield* open(storage)
      for (const [index, length] of lengths.entries()) {
        const name = chunk(index + 1)
        const bytes = patterned(length)
        const expected = { ...name, length, checksum: crc32(bytes) }
        assert.deepStrictEqual(written[index], expected)
        assert.deepStrictEqual(yield* device.describe(name), expected)
        assert.deepStrictEqual(yield* device.verify(name), expected)
        assert.deepStrictEqual(yield* load(device, name), bytes)
      }
    })
  )

  it.live("1: a write that is not finished leaves nothing, also after a reopen", () =>
    Effect.gen(function* () {
      const storage = yield* contract.storage
      yield* format(storage)
      yield* Effect.scoped(
        Effect.gen(function* () {
          const device = yield* open(storage)
          yield* Effect.scoped(
            Effect.gen(function* () {
              const writer = yield* device.begin({ chunk: chunk(1), expectedBytes: 100_000 })
              yield* writer.write(patterned(80_000))
            })
          )
          assert.strictEqual(yield* codeOf(device.describe(chunk(1))), "not-found")
          assert.deepStrictEqual(yield* Stream.runCollect(device.list), [])
        })
      )
      const device = yield* open(storage)
      assert.deepStrictEqual(yield* Stream.runCollect(device.list), [])
      yield* store(device, chunk(1), patterned(10))
    })
  )

  it.live("the list is in (file id, chunk id, version) order, by number", () =>
    Effect.gen(function* () {
      const { device } = yield* freshDevice(contract)
      const names = [
        chunk(70_000),
        chunk(2 ** 40, 3, 9),
        chunk(1, 255, 2),
        chunk(1, 16, 300),
        chunk(256),
        chunk(1, 16, 4),
        chunk(255, 4_294_967_295),
        chunk(Number.MAX_SAFE_INTEGER, 0, Number.MAX_SAFE_INTEGER)
      ]
      for (const name of names) yield* store(device, name, patterned(10))
      const listed = yield* Stream.runCollect(device.list)
      const inOrder = names.toSorted(
        (left, right) =>
          left.fileId - right.fileId || left.chunkId - right.chunkId || left.version - right.version
      )
      assert.deepStrictEqual(
        listed.map((copy) =>
          copy._tag === "Intact" ? chunk(copy.fileId, copy.chunkId, copy.version) : copy.file
        ),
        inOrder
      )
    })
  )

  it.live("1: a removed copy is gone, also after a reopen; a second removal is not-found", () =>
    Effect.gen(function* () {
      const storage = yield* contract.storage
      yield* format(storage)
      yield* Effect.scoped(
        Effect.gen(function* () {
          const device = yield* open(storage)
          yield* store(device, chunk(1), patterned(100_000))
          yield* store(device, chunk(2), patterned(10))
          yield* device.remove(chunk(1))
          assert.strictEqual(yield* codeOf(load(device, chunk(1))), "not-found")
          assert.strictEqual(yield* codeOf(device.remove(chunk(1))), "not-found")
        })
      )
      const device = yield* open(storage)
      assert.strictEqual(yield* codeOf(device.verify(chunk(1))), "not-found")
      assert.deepStrictEqual(yield* load(device, chunk(2)), patterned(10))
    })
  )
}

const describeRanges = <Storage extends DeviceStorage>(
  contract: ChunkDevicesContract<Storage>
): void => {
  it.live("2: a range is the slice of the whole, wherever its ends lie", () =>
    Effect.gen(function* () {
      const { device } = yield* freshDevice(contract)
      const bytes = patterned(200_100)
      yield* store(device, chunk(1), bytes)
      const ends = [0, 1, 65_535, 65_536, 65_537, 131_072, 200_099, 200_100]
      for (const start of ends) {
        for (const end of ends.filter((each) => each >= start)) {
          const read = yield* load(device, chunk(1), { start, end })
          assert.deepStrictEqual(read, bytes.slice(start, end), `${start} to ${end}`)
        }
      }
    })
  )

  it.live("a range past the end, backwards or broken is out-of-range", () =>
    Effect.gen(function* () {
      const { device } = yield* freshDevice(contract)
      yield* store(device, chunk(1), patterned(100))
      const ranges = [
        { start: 0, end: 101 },
        { start: 101, end: 101 },
        { start: 5, end: 4 },
        { start: -1, end: 4 },
        { start: 0.5, end: 4 }
      ]
      for (const range of ranges) {
        assert.strictEqual(yield* codeOf(load(device, chunk(1), range)), "out-of-range")
      }
    })
  )

  it.live("what is not there is not-found, for every act", () =>
    Effect.gen(function* () {
      const { device } = yield* freshDevice(contract)
      yield* store(device, chunk(1, 1, 2), patterned(10))
      for (const name of [chunk(1, 1, 1), chunk(1, 1, 3), chunk(1, 2, 2), chunk(2, 1, 2)]) {
        const codes = [
          yield* codeOf(device.describe(name)),
          yield* codeOf(load(device, name)),
          yield* codeOf(device.verify(name)),
          yield* codeOf(device.remove(name))
        ]
        assert.deepStrictEqual(codes, ["not-found", "not-found", "not-found", "not-found"])
      }
    })
  )
}

const describeVersions = <Storage extends DeviceStorage>(
  contract: ChunkDevicesContract<Storage>
): void => {
  it.live("the same bytes again are welcome, other bytes under the same version are `exists`", () =>
    Effect.gen(function* () {
      const { device } = yield* freshDevice(contract)
      const first = yield* store(device, chunk(1), patterned(1_000))
      assert.deepStrictEqual(yield* store(device, chunk(1), patterned(1_000)), first)
      const other = store(device, chunk(1), patterned(1_000, 2))
      assert.strictEqual(yield* codeOf(other), "exists")
      assert.strictEqual(yield* codeOf(store(device, chunk(1), patterned(999))), "exists")
      assert.deepStrictEqual(yield* load(device, chunk(1)), patterned(1_000))
      assert.strictEqual((yield* device.usage).copies, 1)
    })
  )

  it.live("another version is another copy", () =>
    Effect.gen(function* () {
      const { device } = yield* freshDevice(contract)
      yield* store(device, chunk(1, 0, 1), patterned(10, 1))
      yield* store(device, chunk(1, 0, 2), patterned(10, 2))
      yield* device.remove(chunk(1, 0, 1))
      assert.deepStrictEqual(yield* load(device, chunk(1, 0, 2)), patterned(10, 2))
    })
  )
}

const describeDamage = <Storage extends DeviceStorage>(
  contract: ChunkDevicesContract<Storage>
): void => {
  const { damage, failNext } = contract
  if (damage !== undefined) {
    it.live("2: a damaged block is corrupt and none of its bytes leave; other blocks do", () =>
      Effect.gen(function* () {
        const { storage, device } = yield* freshDevice(contract)
        const bytes = patterned(200_000)
        yield* store(device, chunk(1), bytes)
        yield* damage(storage, { name: "d1", chunk: chunk(1), offset: 70_000 })
        assert.strictEqual(yield* codeOf(device.verify(chunk(1))), "corrupt")
        assert.strictEqual(yield* codeOf(load(device, chunk(1))), "corrupt")
        const inside = load(device, chunk(1), { start: 66_000, end: 66_001 })
        assert.strictEqual(yield* codeOf(inside), "corrupt")
        const before = yield* load(device, chunk(1), { start: 0, end: 65_536 })
        assert.deepStrictEqual(before, bytes.slice(0, 65_536))
      })
    )

    it.live("2: a damaged copy is still listed, and can be removed and written anew", () =>
      Effect.gen(function* () {
        const { storage, device } = yield* freshDevice(contract)
        yield* store(device, chunk(1), patterned(1_000))
        yield* damage(storage, { name: "d1", chunk: chunk(1), offset: 500 })
        assert.strictEqual((yield* Stream.runCollect(device.list)).length, 1)
        yield* device.remove(chunk(1))
        yield* store(device, chunk(1), patterned(1_000))
        assert.deepStrictEqual(yield* load(device, chunk(1)), patterned(1_000))
      })
    )
  }

  if (failNext !== undefined) {
    it.live("6: an I/O error while checking is unavailable, not corrupt, and passes", () =>
      Effect.gen(function* () {
        const { storage, device } = yield* freshDevice(contract)
        yield* store(device, chunk(1), patterned(1_000))
        yield* failNext(storage)
        assert.strictEqual(yield* codeOf(device.verify(chunk(1))), "unavailable")
        assert.strictEqual((yield* device.verify(chunk(1))).length, 1_000)
      })
    )
  }
}
