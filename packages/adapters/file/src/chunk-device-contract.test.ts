import { mkdtemp, open, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describeChunkDevicesContract } from "@holdfast/suites"
import { Effect } from "effect"
import { dataOffset } from "./block-file-format.ts"
import { type Disk, nodeDisk } from "./chunk-device-disk.ts"
import { chunkDevicesOn } from "./chunk-device.ts"
import { copyPath } from "./chunk-device-layout.ts"

const storage = Effect.acquireRelease(
  Effect.promise(() => mkdtemp(join(tmpdir(), "holdfast-contract-"))),
  (root) => Effect.promise(() => rm(root, { recursive: true, force: true }))
).pipe(
  Effect.map((root) => {
    let isFailing = false
    const disk: Disk = {
      ...nodeDisk,
      open: (path) => {
        if (!isFailing) return nodeDisk.open(path)
        isFailing = false
        return Promise.reject(Object.assign(new Error("EIO: i/o error"), { code: "EIO" }))
      }
    }
    return {
      layer: chunkDevicesOn(disk),
      directory: (name: string) => join(root, name),
      failNext: () => {
        isFailing = true
      }
    }
  })
)

describeChunkDevicesContract({
  name: "file",
  storage,
  damage: ({ directory }, { name, chunk, offset }) =>
    Effect.promise(async () => {
      const place = copyPath(chunk)
      const file = await open(join(directory(name), "chunks", place.folder, place.name), "r+")
      const byte = new Uint8Array(1)
      await file.read(byte, 0, 1, dataOffset + offset)
      byte[0] = (byte[0] ?? 0) ^ 0x80
      await file.write(byte, 0, 1, dataOffset + offset)
      await file.close()
    }),
  failNext: ({ failNext }) => Effect.sync(failNext)
})
