/**
 * Identifiers of the chunk map and their limits.
 *
 * A chunk is named by `(fileId, chunkId)`; a copy of it by `(fileId, chunkId, version)`. Versions
 * are drawn from one mark for the whole cluster, so the triple is never used twice.
 */
import * as Schema from "effect/Schema"

const NamePattern = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/

/** The name of a device: 1 to 64 characters, safe in a subject and in a file name. */
export const DeviceId = Schema.String.pipe(
  Schema.check(Schema.isPattern(NamePattern)),
  Schema.brand("DeviceId")
)
/** The name of a device: 1 to 64 characters, safe in a subject and in a file name. */
export type DeviceId = typeof DeviceId.Type

/** The name of a chunk server, kept across restarts and changes of address. */
export const HostId = Schema.String.pipe(
  Schema.check(Schema.isPattern(NamePattern)),
  Schema.brand("HostId")
)
/** The name of a chunk server, kept across restarts and changes of address. */
export type HostId = typeof HostId.Type

/** The greatest file id and version: 2^48 - 1, nine years of a million a second. */
export const identityMax = 2 ** 48 - 1

/** The greatest chunk id inside a file: 2^32 - 1. */
export const chunkIdMax = 2 ** 32 - 1

/** The greatest goal, the number of copies that a chunk is meant to have. */
export const goalMax = 15

/** Names one chunk. */
export interface ChunkKey {
  readonly fileId: number
  readonly chunkId: number
}

/** Names one version of one chunk. */
export interface ChunkVersion extends ChunkKey {
  readonly version: number
}

/** What is known of the bytes of a copy: length in bytes and CRC-32 of the whole chunk. */
export interface ChunkCopy extends ChunkVersion {
  readonly length: number
  readonly checksum: number
}

/** The least key behind a chunk; behind nothing it is the least of all. */
export const keyBehind = (chunk: ChunkKey | undefined): ChunkKey =>
  chunk === undefined
    ? { fileId: 0, chunkId: 0 }
    : { fileId: chunk.fileId, chunkId: chunk.chunkId + 1 }

/** Orders chunks by file, then by number inside the file. */
export const compareChunks = (left: ChunkKey, right: ChunkKey): number =>
  left.fileId === right.fileId ? left.chunkId - right.chunkId : left.fileId - right.fileId

/** Orders versions of chunks by file, chunk, version. */
export const compareVersions = (left: ChunkVersion, right: ChunkVersion): number =>
  compareChunks(left, right) || left.version - right.version

/** Whether a value is a whole number in `[low, high]`. */
export const isWhole = (value: number, low: number, high: number): boolean =>
  Number.isInteger(value) && value >= low && value <= high
