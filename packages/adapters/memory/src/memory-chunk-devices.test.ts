import { describeChunkDevicesContract } from "@holdfast/suites"
import { Effect } from "effect"
import { blockBytes, blockKey } from "./device-cells.ts"
import { memoryChunkDevices } from "./memory-chunk-devices.ts"
import { MemoryDisk } from "./memory-disk.ts"

const storage = Effect.map(MemoryDisk.make(), (disk) => ({
  disk,
  layer: memoryChunkDevices(() => disk),
  directory: (name: string) => `/disk/${name}`
}))

describeChunkDevicesContract({
  name: "memory",
  storage,
  damage: ({ disk, directory }, { name, chunk, offset }) =>
    disk.apply({
      _tag: "FlipBit",
      file: directory(name),
      key: blockKey(chunk, Math.floor(offset / blockBytes)),
      byte: offset % blockBytes,
      bit: 7
    }),
  failNext: ({ disk }) => disk.apply({ _tag: "FailReads", count: 1 })
})
