/** Walks the copies of a device in the order of their names, for reports and for counting. */
import { join } from "node:path"
import type { ChunkDeviceError, ChunkName, StoredCopy } from "@holdfast/storage"
import { Effect, Stream } from "effect"
import { BlockFileDamage, describeHeader, readHeader } from "./block-file-read.ts"
import { attempt, attemptExisting, errnoOf } from "./chunk-device-errors.ts"
import type { Disk } from "./chunk-device-disk.ts"
import { chunkOfPath, type DeviceLayout } from "./chunk-device-layout.ts"

/** Headers read at a time. */
const readsMax = 8

/** Where a walk happens. */
export interface Walk {
  readonly disk: Disk
  readonly layout: DeviceLayout
  readonly deviceId: string
}

/** A name below `chunks`. */
interface FoundName {
  /** Relative to `chunks`. */
  readonly folder: string
  readonly name: string
  /** Set when the name is a copy's. */
  readonly chunk: ChunkName | undefined
}

/** Names inside a folder in order; a file where a folder should be answers nothing. */
const folderNames = (walk: Walk, folder: string) =>
  attempt(walk, `list ${folder}`, async () => {
    try {
      return (await walk.disk.names(join(walk.layout.chunks, folder))).toSorted()
    } catch (cause) {
      if (errnoOf(cause) === "ENOTDIR" || (errnoOf(cause) === "ENOENT" && folder !== "")) {
        return undefined
      }
      throw cause
    }
  })

const leaf = (folder: string, name: string): FoundName => ({
  folder,
  name,
  chunk: chunkOfPath(folder, name)
})

/** Every name on the device, in order; folders two deep, files in them. */
const foundNames = (walk: Walk): Stream.Stream<FoundName, ChunkDeviceError> => {
  const below = (folder: string, depth: number): Stream.Stream<FoundName, ChunkDeviceError> =>
    Stream.unwrap(
      folderNames(walk, folder).pipe(
        Effect.map((names) => {
          if (names === undefined) return Stream.make(leaf("", folder))
          if (depth === 2) return Stream.fromIterable(names.map((name) => leaf(folder, name)))
          return Stream.fromIterable(names).pipe(
            Stream.flatMap((name) => below(join(folder, name), depth + 1))
          )
        })
      )
    )
  return below("", 0)
}

const syncFolder = (walk: Walk, folder: string) =>
  attempt(walk, `sync ${folder}`, async () => {
    try {
      await walk.disk.syncDirectory(join(walk.layout.chunks, folder))
      return [folder]
    } catch (cause) {
      if (errnoOf(cause) === "ENOTDIR") return []
      throw cause
    }
  })

/**
 * Makes the names of all folders and copies durable, which a killed process may have left in memory
 * alone; answers the folders. A call for a folder that has not changed costs microseconds.
 */
export const syncFolders = Effect.fnUntraced(function* (walk: Walk) {
  const high = (yield* folderNames(walk, "")) ?? []
  const low = yield* Effect.forEach(high, (folder) =>
    folderNames(walk, folder).pipe(
      Effect.map((names) => (names ?? []).map((name) => join(folder, name)))
    )
  )
  const synced = yield* Effect.forEach(
    ["", ...high, ...low.flat()],
    (folder) => syncFolder(walk, folder),
    { concurrency: readsMax }
  )
  return synced.flat()
})

/** The size of each copy's file, for the device's accounts; strange names count as nothing. */
export const copySizes = (walk: Walk): Stream.Stream<number, ChunkDeviceError> =>
  foundNames(walk).pipe(
    Stream.filter((found) => found.chunk !== undefined),
    Stream.mapEffect(
      (found) =>
        attemptExisting(walk, "look at a copy", () =>
          walk.disk.stat(join(walk.layout.chunks, found.folder, found.name))
        ).pipe(Effect.map((stat) => stat?.size)),
      { concurrency: readsMax }
    ),
    Stream.filter((size) => size !== undefined)
  )

/** A damaged name. */
const damaged = (found: FoundName, reason: string): StoredCopy => ({
  _tag: "Damaged",
  file: join(found.folder, found.name),
  reason
})

const inspect = (walk: Walk, found: FoundName) => {
  const { chunk } = found
  if (chunk === undefined) return Effect.succeed(damaged(found, "the name is not a copy's name"))
  const path = join(walk.layout.chunks, found.folder, found.name)
  return attempt(walk, `read the header of ${found.name}`, async () => {
    const stat = await walk.disk.stat(path)
    if (!stat.isFile) return damaged(found, "this is not a plain file")
    const file = await walk.disk.open(path)
    try {
      return { _tag: "Intact", ...describeHeader(await readHeader(file, chunk)) } as const
    } catch (cause) {
      if (cause instanceof BlockFileDamage) return damaged(found, cause.message)
      throw cause
    } finally {
      await file.close()
    }
  })
}

/** Every copy in (file, chunk, version) order, headers checked, but for those removed meanwhile. */
export const listCopies = (walk: Walk): Stream.Stream<StoredCopy, ChunkDeviceError> =>
  foundNames(walk).pipe(
    Stream.mapEffect(
      (found) =>
        inspect(walk, found).pipe(
          Effect.catch((error) =>
            attemptExisting(walk, "look at a copy", () =>
              walk.disk.stat(join(walk.layout.chunks, found.folder, found.name))
            ).pipe(
              Effect.flatMap((stat) => (stat === undefined ? Effect.void : Effect.fail(error)))
            )
          )
        ),
      { concurrency: readsMax }
    ),
    Stream.filter((copy) => copy !== undefined)
  )
