import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { layerChunkDevices } from "@holdfast/adapter-file"
import { ChunkDevices } from "@holdfast/storage"
import { ClusterId } from "@holdfast/wire"
import { Effect, Option } from "effect"
import { formatMissingDevices } from "./chunk-server-process.ts"

const inFolder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "holdfast-format-"))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
)

const cluster = ClusterId.make("one")
const open = (directory: string, clusterId: string = cluster) =>
  Effect.gen(function* () {
    const devices = yield* ChunkDevices
    const capacityBytes = Option.none<number>()
    const opened = yield* devices.open({ directory, clusterId, reservedBytes: 0, capacityBytes })
    return opened.epoch
  }).pipe(Effect.scoped, Effect.provide(layerChunkDevices))

describe("formatting devices", () => {
  it.live("metadata-W46: who a device is is written once, apart from all that changes", () =>
    Effect.gen(function* () {
      const directory = join(yield* inFolder, "disk-1")
      yield* formatMissingDevices({ cluster, directories: [directory] })
      const identity = () => readFileSync(join(directory, "identity"), "utf8")
      const written = identity()
      const first = yield* open(directory)
      assert.isAbove(yield* open(directory), first)
      yield* formatMissingDevices({ cluster: ClusterId.make("two"), directories: [directory] })
      assert.strictEqual(identity(), written)
      assert.strictEqual((yield* Effect.flip(open(directory, "two"))).code, "foreign")
      assert.strictEqual(identity(), written)
    })
  )

  it.live("metadata-W46: a place without an identity is no device, and is left as it is", () =>
    Effect.gen(function* () {
      const directory = join(yield* inFolder, "not-mounted")
      mkdirSync(directory)
      assert.strictEqual((yield* Effect.flip(open(directory))).code, "not-formatted")
      assert.deepStrictEqual(readdirSync(directory), [])
    })
  )
})
