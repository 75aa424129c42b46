/**
 * A disk for tests whose power fails at a chosen call, and which then forgets what was not synced.
 *
 *     calls 1 .. n-1 happen │ call n and all later ones fail │ settle: unsynced bytes and names go
 *
 * Bytes written since a file's last sync are kept or become zeros, range by range. Names changed
 * since their directory's last sync are kept or undone, newest first. Syncs only take note: what
 * they promise is kept by `settle` alone.
 */
import { existsSync } from "node:fs"
import { dirname } from "node:path"
import { type FileHandle, open, readFile, rename, rm, unlink, writeFile } from "node:fs/promises"
import { type Disk, type DiskFile, nodeDisk } from "../chunk-device-disk.ts"
import { errnoOf } from "../chunk-device-errors.ts"

interface Range {
  readonly position: number
  readonly length: number
}

interface NameChange {
  readonly directory: string
  readonly undo: () => Promise<void>
}

/** A disk and its fate. */
export interface PowerCutDisk {
  readonly disk: Disk
  /** Calls made so far. */
  readonly calls: () => number
  /** Forgets what was not durable; `keeps` decides for each range and name. */
  readonly settle: (keeps: () => boolean) => Promise<void>
}

/** Undoes a change, unless a later one took away what it changed. */
const undoing = async (undo: () => Promise<void>): Promise<void> => {
  try {
    await undo()
  } catch (cause) {
    if (errnoOf(cause) !== "ENOENT") throw cause
  }
}

/** A file's bytes, or nothing when there is none. */
const readExisting = async (path: string): Promise<Uint8Array | undefined> =>
  existsSync(path) ? readFile(path) : undefined

/** Makes a disk that fails from call `cutAt` on; calls count from 1. */
export const powerCutDisk = (cutAt: number): PowerCutDisk => {
  let calls = 0
  const unsynced = new Map<FileHandle, Array<Range>>()
  let changes: Array<NameChange> = []

  const step = async <A>(act: () => Promise<A>): Promise<A> => {
    calls += 1
    if (calls >= cutAt) throw new Error("the power is off")
    return act()
  }
  const changed = (directory: string, undo: () => Promise<void>) => {
    changes.push({ directory, undo: () => undoing(undo) })
  }

  const shadowed = async (path: string, file: DiskFile): Promise<DiskFile> => {
    const shadow = await open(path, "r+")
    const ranges: Array<Range> = []
    unsynced.set(shadow, ranges)
    const synced = () => {
      ranges.length = 0
    }
    return {
      ...file,
      write: (bytes, position) =>
        step(async () => {
          ranges.push({ position, length: bytes.length })
          await file.write(bytes, position)
        }),
      syncData: () => step(() => Promise.resolve(synced())),
      sync: () => step(() => Promise.resolve(synced()))
    }
  }

  const disk: Disk = {
    ...nodeDisk,
    create: (path) =>
      step(async () => {
        const file = await nodeDisk.create(path)
        changed(dirname(path), () => unlink(path))
        return shadowed(path, file)
      }),
    rename: (from, to) =>
      step(async () => {
        const replaced = await readExisting(to)
        await nodeDisk.rename(from, to)
        changed(dirname(to), async () => {
          await rename(to, from)
          if (replaced !== undefined) await writeFile(to, replaced)
        })
      }),
    link: (from, to) =>
      step(async () => {
        await nodeDisk.link(from, to)
        changed(dirname(to), () => unlink(to))
      }),
    unlink: (path) =>
      step(async () => {
        const removed = await readFile(path)
        await nodeDisk.unlink(path)
        changed(dirname(path), () => writeFile(path, removed))
      }),
    makeDirectory: (path) =>
      step(async () => {
        await nodeDisk.makeDirectory(path)
        changed(dirname(path), () => rm(path, { recursive: true, force: true }))
      }),
    syncDirectory: (path) =>
      step(() => {
        changes = changes.filter((change) => change.directory !== path)
        return Promise.resolve()
      })
  }

  return {
    disk,
    calls: () => calls,
    settle: async (keeps) => {
      for (const [shadow, ranges] of unsynced) {
        for (const { position, length } of ranges) {
          if (!keeps()) await shadow.write(new Uint8Array(length), 0, length, position)
        }
        await shadow.close()
      }
      for (const change of changes.toReversed()) {
        if (!keeps()) await change.undo()
      }
    }
  }
}
