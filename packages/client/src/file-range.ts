/** Which bytes of a plain file, and in which of its chunks they are. */
import type { SegmentChunk } from "@holdfast/catalogue"
import { Result } from "effect"
import { InvalidRequest } from "./errors.ts"

/** Bytes of a file, counted from 0: both ends included, each may be left out. */
export interface FileRange {
  readonly from?: number | undefined
  /** An end behind the file's last byte means that byte. */
  readonly to?: number | undefined
}

/** The bytes `start` up to and excluding `end` of one chunk. */
export interface ChunkPart {
  readonly chunk: SegmentChunk
  readonly start: number
  readonly end: number
}

/** A range as offsets, the end excluded; a range that begins behind the file is refused. */
export const offsetsOf = (
  file: { readonly name: string; readonly bytes: number },
  range: FileRange
): Result.Result<{ readonly start: number; readonly end: number }, InvalidRequest> => {
  const { from = 0, to = Number.MAX_SAFE_INTEGER } = range
  const isWhole = range.from === undefined && range.to === undefined
  if (isWhole || (from >= 0 && from <= to && from < file.bytes)) {
    return Result.succeed({ start: from, end: Math.min(to, file.bytes - 1) + 1 })
  }
  const held =
    file.bytes === 0 ? "is empty" : `has ${file.bytes} bytes, the bytes 0 to ${file.bytes - 1}`
  const wanted = range.to === undefined ? `from ${from}` : `${from} to ${range.to}`
  const message = `The file "${file.name}" ${held}; it has no bytes ${wanted}.`
  return Result.fail(new InvalidRequest({ message }))
}

/** The parts of a file's chunks, in order, that offsets touch. */
export const chunkPartsOf = (
  chunks: ReadonlyArray<SegmentChunk>,
  offsets: { readonly start: number; readonly end: number }
): ReadonlyArray<ChunkPart> => {
  let before = 0
  return chunks.flatMap((chunk) => {
    const start = Math.max(offsets.start - before, 0)
    const end = Math.min(offsets.end - before, chunk.length)
    before += chunk.length
    return start < end ? [{ chunk, start, end }] : []
  })
}
