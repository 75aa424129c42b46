/**
 * Where things lie inside a device directory.
 *
 *     identity               what the device is; written once, last, by `format`
 *     claim-<epoch>          who holds the device
 *     incoming/<n>.part      copies being written; removed at each opening
 *     chunks/<high>/<mid>/   copies: 256 file ids a folder, 4096 folders under each high part
 *
 * 1. Names have a fixed width, so that the order of names is the order of (file, chunk, version).
 * 2. Only a name that `copyName` makes is a copy; anything else below `chunks` is damage.
 */
import { join } from "node:path"
import type { ChunkName } from "@holdfast/storage"

/** The directories and files of one device. */
export interface DeviceLayout {
  readonly directory: string
  readonly identity: string
  readonly identityDraft: string
  readonly incoming: string
  readonly chunks: string
}

/** The layout below a directory. */
export const deviceLayout = (directory: string): DeviceLayout => ({
  directory,
  identity: join(directory, "identity"),
  identityDraft: join(directory, "identity.draft"),
  incoming: join(directory, "incoming"),
  chunks: join(directory, "chunks")
})

const hex = (value: number, digits: number): string => value.toString(16).padStart(digits, "0")

const fileIdsPerDirectory = 256
const directoriesPerHigh = 4096

/** Where a copy lies. */
export interface CopyPath {
  /** The directory of directories, relative to `chunks`. */
  readonly high: string
  /** The copy's directory, relative to `chunks`. */
  readonly folder: string
  readonly name: string
}

/** The place of a copy. */
export const copyPath = (chunk: ChunkName): CopyPath => {
  const group = Math.floor(chunk.fileId / fileIdsPerDirectory)
  const high = hex(Math.floor(group / directoriesPerHigh), 9)
  return {
    high,
    folder: join(high, hex(group % directoriesPerHigh, 3)),
    name: `${hex(chunk.fileId, 14)}-${hex(chunk.chunkId, 8)}-${hex(chunk.version, 14)}.chunk`
  }
}

const copyPattern = /^([0-9a-f]{14})-([0-9a-f]{8})-([0-9a-f]{14})\.chunk$/

/** The chunk that a name in a folder stands for, or nothing when it is no copy's name there. */
export const chunkOfPath = (folder: string, name: string): ChunkName | undefined => {
  const found = copyPattern.exec(name)
  if (found === null) return undefined
  const [fileId = 0, chunkId = 0, version = 0] = found.slice(1).map((part) => parseInt(part, 16))
  const chunk = { fileId, chunkId, version }
  const isInRange = [fileId, version].every((id) => id >= 1 && id <= Number.MAX_SAFE_INTEGER)
  return isInRange && copyPath(chunk).folder === folder ? chunk : undefined
}
