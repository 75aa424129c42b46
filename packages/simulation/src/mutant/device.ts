/** Mistakes of chunk devices. */
import { crc32 } from "node:zlib"
import type { ChunkDescription, OpenDevice } from "@holdfast/storage"
import { Effect, Stream } from "effect"
import type { Mutant } from "./mutant.ts"

const finishesEarly = (device: OpenDevice): OpenDevice => ({
  ...device,
  begin: (options) =>
    Effect.map(device.begin(options), (writer) => {
      let [length, checksum] = [0, 0]
      return {
        write: (bytes) => {
          length += bytes.length
          checksum = crc32(bytes, checksum)
          return writer.write(bytes)
        },
        finish: Effect.suspend(() => {
          const description: ChunkDescription = { ...options.chunk, length, checksum }
          return Effect.as(Effect.forkDetach(writer.finish), description)
        })
      }
    })
})

const keepsRemoved = (device: OpenDevice): OpenDevice => ({
  ...device,
  remove: () => Effect.void
})

const findsNoDamage = (device: OpenDevice): OpenDevice => ({
  ...device,
  verify: (chunk) => device.describe(chunk)
})

const removesOther = (device: OpenDevice): OpenDevice => ({
  ...device,
  remove: (chunk) =>
    Stream.runHead(device.list).pipe(
      Effect.flatMap((first) =>
        first._tag === "Some" && first.value._tag === "Intact"
          ? device.remove(first.value)
          : device.remove(chunk)
      )
    )
})

const servesDamaged = (device: OpenDevice): OpenDevice => ({
  ...device,
  read: (options) => {
    let isFirst = true
    return device.read(options).pipe(
      Stream.map((bytes) => {
        if (!isFirst || bytes.length === 0 || options.chunk.version % 8 !== 0) return bytes
        isFirst = false
        return bytes.map((byte, index) => (index === 0 ? byte ^ 1 : byte))
      })
    )
  }
})

const listsAllButOne = (device: OpenDevice): OpenDevice => ({
  ...device,
  list: Stream.drop(device.list, 1)
})

const staysInEpoch = (device: OpenDevice): OpenDevice => ({ ...device, epoch: 1 })

/** Mistakes of devices. */
export const deviceMutants: ReadonlyArray<Mutant> = [
  {
    name: "a device acknowledges a copy before it is durable",
    profile: "chunks",
    seams: { device: finishesEarly }
  },
  {
    name: "a device says that a copy is removed and keeps it",
    profile: "chunks",
    seams: { device: keepsRemoved }
  },
  {
    name: "a device removes another copy than it was told",
    profile: "chunks",
    seams: { device: removesOther }
  },
  {
    name: "scrubbing finds no damage",
    profile: "chunks",
    seams: { device: findsNoDamage }
  },
  {
    name: "a device serves damaged bytes",
    profile: "chunks",
    seams: { device: servesDamaged }
  },
  {
    name: "a full report leaves one copy out",
    profile: "chunks",
    seams: { device: listsAllButOne }
  },
  {
    name: "a device does not raise its epoch when it opens",
    profile: "chunks",
    seams: { device: staysInEpoch }
  }
]
