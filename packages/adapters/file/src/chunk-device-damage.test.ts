import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import type { ChunkDeviceError, OpenDevice } from "@holdfast/storage"
import { Effect, Option, Stream } from "effect"
import * as fc from "fast-check"
import { blockBytes, dataOffset, headerBytes } from "./block-file-format.ts"
import { type Disk, nodeDisk } from "./chunk-device-disk.ts"
import { copyPath } from "./chunk-device-layout.ts"
import {
  chunkNamed,
  codeOf,
  freshDevice,
  load,
  patterned,
  store
} from "./testing/device-fixture.ts"

const length = 2 * blockBytes + 500
const chunk = chunkNamed(1)

const pathOf = (directory: string, fileId = 1) => {
  const { folder, name } = copyPath(chunkNamed(fileId))
  return join(directory, "chunks", folder, name)
}

const stored = Effect.gen(function* () {
  const { device, directory } = yield* freshDevice()
  yield* store(device, chunk, patterned(length))
  return { device, directory, path: pathOf(directory) }
})

const listed = (device: OpenDevice) =>
  Stream.runCollect(device.list).pipe(Effect.map((copies) => copies.map((copy) => copy._tag)))

/** Damage of a file's bytes: what the header shows, and what only a check of the bytes shows. */
const damages: ReadonlyArray<{
  readonly name: string
  readonly damage: (bytes: Uint8Array) => Uint8Array
  readonly listed: "Damaged" | "Intact"
}> = [
  { name: "B30: an empty file", damage: () => new Uint8Array(0), listed: "Damaged" },
  { name: "B31: all zeros", damage: (bytes) => bytes.fill(0), listed: "Damaged" },
  { name: "B31: zeros behind the header", damage: (b) => b.fill(0, dataOffset), listed: "Intact" },
  { name: "B66: cut short", damage: (bytes) => bytes.subarray(0, -1), listed: "Damaged" },
  {
    name: "B66: longer than it says",
    damage: (bytes) => Buffer.concat([bytes, bytes]),
    listed: "Damaged"
  },
  { name: "T8: another format version", damage: (bytes) => bytes.fill(9, 8, 9), listed: "Damaged" }
]

describe("damage", () => {
  for (const { name, damage, listed: expected } of damages) {
    it.effect(`metadata-${name} is corrupt, is listed, and stays for a rescue`, () =>
      Effect.gen(function* () {
        const { device, path } = yield* stored
        const bytes = yield* Effect.promise(() => readFile(path))
        yield* Effect.promise(() => writeFile(path, damage(new Uint8Array(bytes))))
        assert.deepStrictEqual(yield* listed(device), [expected])
        assert.strictEqual(yield* codeOf(load(device, chunk)), "corrupt")
        assert.strictEqual(yield* codeOf(device.verify(chunk)), "corrupt")
        assert.strictEqual((yield* listed(device)).length, 1)
        yield* device.remove(chunk)
        assert.deepStrictEqual(yield* listed(device), [])
      })
    )
  }

  it.effect("metadata-B35: each flipped bit is found, and no wrong byte ever leaves", () =>
    Effect.gen(function* () {
      const { device, path } = yield* stored
      const whole = patterned(length)
      const bytes = new Uint8Array(yield* Effect.promise(() => readFile(path)))
      const isPadding = (at: number) => at >= headerBytes - 4 && at < dataOffset
      const place = fc.nat({ max: bytes.length - 1 }).filter((at) => !isPadding(at))
      const property = fc.asyncProperty(place, fc.nat({ max: 7 }), async (at, bit) => {
        const changed = bytes.slice()
        changed[at] = (changed[at] ?? 0) ^ (1 << bit)
        await writeFile(path, changed)
        assert.strictEqual(await Effect.runPromise(codeOf(device.verify(chunk))), "corrupt")
        let sent = 0
        const read = device.read({ chunk, range: Option.none() }).pipe(
          Stream.runForEach((piece) =>
            Effect.sync(() => {
              assert.deepStrictEqual(piece, whole.subarray(sent, sent + piece.length))
              sent += piece.length
            })
          )
        )
        await Effect.runPromise(codeOf(read))
      })
      yield* Effect.promise(() => fc.assert(property, { numRuns: 40 }))
    })
  )

  it.effect("metadata-T8: a wrong file name is damage: the header says another chunk", () =>
    Effect.gen(function* () {
      const { device, directory, path } = yield* stored
      yield* Effect.promise(() => rename(path, pathOf(directory, 2)))
      assert.deepStrictEqual(yield* listed(device), ["Damaged"])
      assert.strictEqual(yield* codeOf(load(device, chunkNamed(2))), "corrupt")
      assert.strictEqual(yield* codeOf(load(device, chunk)), "not-found")
    })
  )

  it.effect("strange names and folders are named as damage and left alone", () =>
    Effect.gen(function* () {
      const { device, directory, path } = yield* stored
      const chunks = join(directory, "chunks")
      yield* Effect.promise(async () => {
        await writeFile(join(dirname(path), "copy of a chunk"), "")
        await writeFile(join(chunks, "letters"), "")
        await mkdir(pathOf(directory, 3))
      })
      const copies = yield* Stream.runCollect(device.list)
      assert.deepStrictEqual(
        copies.map((copy) => (copy._tag === "Damaged" ? copy.reason : copy._tag)),
        [
          "Intact",
          "this is not a plain file",
          "the name is not a copy's name",
          "the name is not a copy's name"
        ]
      )
    })
  )

  it.effect("metadata-B32: a damaged copy of the same name is not overwritten", () =>
    Effect.gen(function* () {
      const { device, path } = yield* stored
      yield* Effect.promise(() => writeFile(path, "rescue me"))
      assert.strictEqual(yield* codeOf(store(device, chunk, patterned(length))), "exists")
      assert.strictEqual(yield* Effect.promise(() => readFile(path, "utf8")), "rescue me")
      yield* device.remove(chunk)
      yield* store(device, chunk, patterned(length))
      assert.deepStrictEqual(yield* load(device, chunk), patterned(length))
    })
  )

  it.effect("metadata-B65: one broken copy does not hide the others", () =>
    Effect.gen(function* () {
      const { device, path } = yield* stored
      yield* store(device, chunkNamed(2), patterned(10))
      yield* Effect.promise(() => rm(path))
      yield* Effect.promise(() => writeFile(path, ""))
      assert.deepStrictEqual(yield* listed(device), ["Damaged", "Intact"])
      assert.deepStrictEqual(yield* load(device, chunkNamed(2)), patterned(10))
    })
  )
})

const failing = (errno: string): Disk => {
  const fail = () => Promise.reject(Object.assign(new Error(`${errno}: refused`), { code: errno }))
  return { ...nodeDisk, open: fail }
}

describe("failed calls", () => {
  const cases: ReadonlyArray<readonly [string, ChunkDeviceError["code"]]> = [
    ["EMFILE", "unavailable"],
    ["ENFILE", "unavailable"],
    ["EIO", "unavailable"],
    ["EACCES", "unavailable"]
  ]
  for (const [errno, code] of cases) {
    it.effect(`metadata-B37: ${errno} while checking is ${code}, not corrupt`, () =>
      Effect.gen(function* () {
        const { device } = yield* freshDevice({ disk: failing(errno) })
        yield* store(device, chunk, patterned(10)).pipe(Effect.ignore)
        assert.strictEqual(yield* codeOf(device.verify(chunk)), code)
        assert.strictEqual(yield* codeOf(load(device, chunk)), code)
      })
    )
  }

  it.effect(
    "metadata-B28: a list that cannot read a header fails, it does not call it damaged",
    () =>
      Effect.gen(function* () {
        let isFailing = false
        const disk: Disk = {
          ...nodeDisk,
          open: (path) => (isFailing ? failing("EIO").open(path) : nodeDisk.open(path))
        }
        const { device } = yield* freshDevice({ disk })
        yield* store(device, chunk, patterned(10))
        isFailing = true
        assert.strictEqual(yield* codeOf(Stream.runCollect(device.list)), "unavailable")
        isFailing = false
        assert.deepStrictEqual(yield* listed(device), ["Intact"])
      })
  )

  for (const [errno, code] of [
    ["ENOSPC", "full"],
    ["EDQUOT", "full"],
    ["EIO", "unavailable"]
  ]) {
    for (const call of ["create", "write", "sync", "rename", "makeDirectory"]) {
      it.effect(
        `metadata-B62: ${errno} at ${call} is ${code}, leaves nothing, and can be retried`,
        () =>
          Effect.gen(function* () {
            const { disk, heal } = failingAt(call, errno ?? "")
            const { device } = yield* freshDevice({ disk })
            assert.strictEqual(yield* codeOf(store(device, chunk, patterned(length))), code)
            assert.deepStrictEqual(yield* listed(device), [])
            assert.strictEqual((yield* device.usage).used, 0)
            heal()
            yield* store(device, chunk, patterned(length))
            assert.deepStrictEqual(yield* load(device, chunk), patterned(length))
          })
      )
    }
  }
})

/** A disk whose named call fails for parts and chunks until it is healed. */
const failingAt = (call: string, errno: string) => {
  let isFailing = true
  const guard = <A>(name: string, path: string, act: () => Promise<A>): Promise<A> => {
    const isConcerned = path.includes("incoming") || path.includes("chunks")
    return isFailing && name === call && isConcerned
      ? Promise.reject(Object.assign(new Error(`${errno}: refused`), { code: errno }))
      : act()
  }
  const disk: Disk = {
    ...nodeDisk,
    create: (path) =>
      guard("create", path, async () => {
        const file = await nodeDisk.create(path)
        return {
          ...file,
          write: (bytes, position) => guard("write", path, () => file.write(bytes, position)),
          sync: () => guard("sync", path, file.sync)
        }
      }),
    rename: (from, to) => guard("rename", to, () => nodeDisk.rename(from, to)),
    makeDirectory: (path) => guard("makeDirectory", path, () => nodeDisk.makeDirectory(path))
  }
  return { disk, heal: () => (isFailing = false) }
}
