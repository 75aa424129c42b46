/** What tests do to a closed store: temporary directories, damaged values, a disk without room. */
import { Effect } from "effect"
import type { Scope } from "effect"
import { open } from "lmdb"
import type { Database } from "lmdb"
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

/** A value of a closed store: its directory, its table, and the first key that passes. */
interface StoredValue {
  readonly directory: string
  readonly table: string
  readonly isMeant: (key: Buffer) => boolean
}

/** How many values a table has. */
export const countValues = (options: {
  readonly directory: string
  readonly table: string
}): Effect.Effect<number> =>
  Effect.promise(async () => {
    const binary = { encoding: "binary", keyEncoding: "binary" } as const
    const root = open<Buffer, Buffer>({
      path: options.directory,
      ...binary,
      overlappingSync: false
    })
    const count = root.openDB<Buffer, Buffer>({ name: options.table, ...binary }).getKeysCount({})
    await root.close()
    return count
  })

const harmValue = (
  { directory, isMeant, table: name }: StoredValue,
  harm: (table: Database<Buffer, Buffer>, key: Buffer) => void
): Effect.Effect<void> =>
  Effect.promise(async () => {
    const binary = { encoding: "binary", keyEncoding: "binary" } as const
    const root = open<Buffer, Buffer>({ path: directory, ...binary, overlappingSync: false })
    const table = root.openDB<Buffer, Buffer>({ name, ...binary })
    const key = [...table.getKeys({})].find(isMeant)
    if (key === undefined) throw new Error("there is nothing to harm")
    harm(table, key)
    await root.close()
  })

/** Changes a bit of the last byte of a value. */
export const damageValue = (stored: StoredValue): Effect.Effect<void> =>
  harmValue(stored, (table, key) => {
    const value = table.get(key) ?? Buffer.of(0)
    value.writeUInt8(value.readUInt8(value.length - 1) ^ 1, value.length - 1)
    table.putSync(key, value)
  })

/** Removes a value, as a page that damage has cut off would. */
export const removeValue = (stored: StoredValue): Effect.Effect<void> =>
  harmValue(stored, (table, key) => {
    table.removeSync(key)
  })
