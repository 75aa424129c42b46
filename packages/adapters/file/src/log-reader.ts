/** Reads the batches of one file in order, with at most one batch and one window in memory. */
import type { Disk, DiskFile } from "./chunk-device-disk.ts"
import {
  type Batch,
  batchMark,
  decodeHeader,
  hasEmptySector,
  headerBytes,
  isPayloadOf
} from "./log-batch.ts"

/** Bytes that one read asks for at least. */
const WINDOW_BYTES = 262_144
/** Bytes that a search for a later batch looks at together. */
const SEARCH_BYTES = 65_536

/** What stands at a place of a file. */
export type Found =
  | { readonly _tag: "Whole"; readonly batch: Batch; readonly next: number }
  | { readonly _tag: "Nothing" }
  | { readonly _tag: "Torn" }
  | { readonly _tag: "Damaged" }

/** Reads a file by place. */
export interface LogReader {
  readonly size: number
  /** The batch at `position`, whose number should be `number`. */
  readonly at: (position: number, number: number) => Promise<Found>
}

const nothing: Found = { _tag: "Nothing" }
const torn: Found = { _tag: "Torn" }
const damaged: Found = { _tag: "Damaged" }

const windowed = (file: DiskFile, size: number) => {
  let start = 0
  let window: Buffer = Buffer.alloc(0)
  /** Bytes from a position on: `length` of them, fewer at the file's end. */
  return async (position: number, length: number): Promise<Uint8Array> => {
    const end = Math.min(size, position + length)
    if (position < start || end > start + window.length) {
      const fresh = Buffer.allocUnsafe(
        Math.min(size - position, Math.max(WINDOW_BYTES, end - position))
      )
      const read = await file.read(fresh, position)
      window = fresh.subarray(0, read)
      start = position
    }
    return window.subarray(position - start, end - start)
  }
}

/** Whether a whole batch with a later number begins somewhere behind a place. */
const hasLaterBatch = async (
  read: (position: number, length: number) => Promise<Uint8Array>,
  size: number,
  from: { readonly position: number; readonly number: number }
): Promise<boolean> => {
  let at = from.position + 1
  while (at + headerBytes <= size) {
    const piece = Buffer.from(await read(at, SEARCH_BYTES))
    const offset = piece.indexOf(batchMark)
    if (offset === -1 || offset + headerBytes > piece.length) {
      if (at + piece.length >= size) return false
      at += offset === -1 ? piece.length - 1 : offset
      continue
    }
    const header = decodeHeader(piece.subarray(offset))
    at += offset + 1
    if (header === undefined || header.number <= from.number) continue
    if (isPayloadOf(header, await read(at - 1 + headerBytes, header.length))) return true
  }
  return false
}

/** Opens a file's batches for reading, runs `use`, and closes the file. */
export const withLogReader = async <A>(
  disk: Disk,
  path: string,
  use: (reader: LogReader) => Promise<A>
): Promise<A> => {
  const file = await disk.open(path)
  try {
    const size = await file.size()
    const read = windowed(file, size)
    const at = async (position: number, number: number): Promise<Found> => {
      if (position >= size) return nothing
      const head = await read(position, headerBytes)
      const header = decodeHeader(head)
      if (header === undefined) {
        if (head.length === headerBytes && !hasEmptySector(head, position)) return damaged
        return (await hasLaterBatch(read, size, { position, number })) ? damaged : torn
      }
      if (header.number !== number) return damaged
      const next = position + headerBytes + header.length
      if (next > size) return torn
      const payload = await read(position + headerBytes, header.length)
      if (isPayloadOf(header, payload)) {
        return { _tag: "Whole", batch: { kind: header.kind, number, payload }, next }
      }
      const whole = await read(position, headerBytes + header.length)
      return next === size && hasEmptySector(whole, position) ? torn : damaged
    }
    return await use({ size, at })
  } finally {
    await file.close()
  }
}
