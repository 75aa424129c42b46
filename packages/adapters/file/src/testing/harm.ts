/** What tests do to a closed store: temporary directories, damaged values, a disk without room. */
import { Effect } from "effect"
import type { Scope } from "effect"
import { open } from "lmdb"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** A directory that is removed with the scope. */
export const temporaryDirectory = (name: string): Effect.Effect<string, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), `holdfast-${name}-`))),
    (directory) => Effect.sync(() => rmSync(directory, { recursive: true, force: true }))
  )

/** A fresh store directory and a disk whose free bytes the test decides. */
export const temporaryStorage = (name: string) =>
  Effect.map(temporaryDirectory(name), (directory) => {
    const disk = { free: Number.MAX_SAFE_INTEGER }
    return { directory, disk, options: { directory, freeBytes: () => disk.free } }
  })

/** Lets a test's disk run out of room and gives the room back. */
export const room = {
  take: ({ disk }: { readonly disk: { free: number } }) =>
    Effect.sync(() => {
      disk.free = 16_777_216 + 1_000_000
    }),
  giveBack: ({ disk }: { readonly disk: { free: number } }) =>
    Effect.sync(() => {
      disk.free = Number.MAX_SAFE_INTEGER
    })
}

/** Changes a bit of the last byte of the first value whose key passes; the store is closed. */
export const damageValue = (options: {
  readonly directory: string
  readonly table: string
  readonly isMeant: (key: Buffer) => boolean
}): Effect.Effect<void> =>
  Effect.promise(async () => {
    const binary = { encoding: "binary", keyEncoding: "binary" } as const
    const root = open<Buffer, Buffer>({
      path: options.directory,
      ...binary,
      overlappingSync: false
    })
    const table = root.openDB<Buffer, Buffer>({ name: options.table, ...binary })
    const key = [...table.getKeys({})].find(options.isMeant)
    const value = key === undefined ? undefined : table.get(key)
    if (key === undefined || value === undefined) throw new Error("there is nothing to damage")
    value.writeUInt8(value.readUInt8(value.length - 1) ^ 1, value.length - 1)
    table.putSync(key, value)
    await root.close()
  })
