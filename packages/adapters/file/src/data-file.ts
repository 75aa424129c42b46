/**
 * What is made sure of LMDB's data file before LMDB reads it, as it reads it through a memory map
 * and trusts it: a wrong head or a missing end would end the process, not the opening.
 *
 *     page 0: head    page 1: head    page 2 ...
 *     24: magic, 4 bytes    48: page size, 4 bytes
 */
import type { RootDatabase } from "lmdb"
import {
  closeSync,
  fstatSync,
  openSync,
  readSync,
  statSync,
  truncateSync,
  unlinkSync
} from "node:fs"
import { join } from "node:path"
import { StoreRefused } from "./store-refused.ts"

/** LMDB's data file inside a store directory. */
export const DATA_FILE = "data.mdb"
const LOCK_FILE = "lock.mdb"
const MAGIC = 0xbeefc0de
const MAGIC_OFFSET = 24
const PAGE_SIZE_OFFSET = 48
const HEAD_BYTES = 64

const isMissing = (cause: unknown): boolean =>
  typeof cause === "object" && cause !== null && "code" in cause && cause.code === "ENOENT"

const readHead = (file: number, offset: number): Buffer => {
  const head = Buffer.alloc(HEAD_BYTES)
  readSync(file, head, 0, HEAD_BYTES, offset)
  return head
}

const isWhole = (file: number): boolean => {
  const first = readHead(file, 0)
  const pageBytes = first.readUInt32LE(PAGE_SIZE_OFFSET)
  if (first.readUInt32LE(MAGIC_OFFSET) !== MAGIC) return false
  const isPageSize = pageBytes >= 512 && pageBytes <= 65_536 && (pageBytes & (pageBytes - 1)) === 0
  if (!isPageSize || fstatSync(file).size < 2 * pageBytes) return false
  return readHead(file, pageBytes).readUInt32LE(MAGIC_OFFSET) === MAGIC
}

/** Whether there is a data file; refuses one that LMDB did not write or whose head is cut. */
export const hasDataFile = (directory: string): boolean => {
  let file: number
  try {
    file = openSync(join(directory, DATA_FILE), "r")
  } catch (cause) {
    if (isMissing(cause)) return false
    throw cause
  }
  try {
    if (isWhole(file)) return true
  } finally {
    closeSync(file)
  }
  const message = `${join(directory, DATA_FILE)} is empty, cut or no data file of this program.`
  throw new StoreRefused({ code: "corrupt", message })
}

/** Removes LMDB's lock file, which may be damaged; only for who holds the directory alone. */
export const removeLockFile = (directory: string): void => {
  try {
    unlinkSync(join(directory, LOCK_FILE))
  } catch (cause) {
    if (!isMissing(cause)) throw cause
  }
}

const numberAt = (stats: object, name: string): number => {
  const value: unknown = Reflect.get(stats, name)
  return typeof value === "number" ? value : 0
}

/** Fills a file that was cut short with zeros, so that reading what is missing is an error. */
export const fillUpDataFile = (directory: string, root: RootDatabase<Buffer, Buffer>): void => {
  const stats = root.getStats()
  const bytes = (numberAt(stats, "lastPageNumber") + 1) * numberAt(stats, "pageSize")
  const file = join(directory, DATA_FILE)
  if (statSync(file).size < bytes) truncateSync(file, bytes)
}
