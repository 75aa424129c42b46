/**
 * Cuts a text into lines: each line is a piece, its number, from 1, the position.
 *
 * A line ends with a line feed or a carriage return and a line feed, which are no part of it; what
 * stands after the last line feed is a line unless it is empty. Where each line is a JSON value
 * (NDJSON), empty lines are passed over and any other must hold exactly one value.
 */
import { BYTE_ORDER_MARK, joinParts, jsonFault } from "./text-splitter.ts"
import type { SplitterOptions, TextFault, TextPiece, TextSplitter } from "./text-splitter.ts"

const LINE_FEED = 0x0a
const CARRIAGE_RETURN = 0x0d
const SPACE = 0x20
const TAB = 0x09

const isBlank = (bytes: Uint8Array): boolean =>
  bytes.every((byte) => byte === SPACE || byte === TAB || byte === CARRIAGE_RETURN)

const withoutReturn = (bytes: Uint8Array): Uint8Array =>
  bytes.at(-1) === CARRIAGE_RETURN ? bytes.subarray(0, -1) : bytes

const withoutMark = (bytes: Uint8Array): Uint8Array =>
  BYTE_ORDER_MARK.every((byte, index) => bytes[index] === byte) ? bytes.subarray(3) : bytes

/** A splitter of lines; with `isJson` each line must be one JSON value. */
export const makeLineSplitter = (
  options: SplitterOptions & { readonly isJson: boolean }
): TextSplitter => {
  const { after, isJson, pieceBytesMax } = options
  let line = 1
  let parts: Array<Uint8Array> = []
  let length = 0

  const tooLong = (): TextFault => ({
    code: "too-large",
    line,
    message: `the line is over ${pieceBytesMax} bytes; shorten it, or raise the limit of a record`
  })
  const finishLine = (pieces: Array<TextPiece>): TextFault | undefined => {
    const joined = withoutReturn(joinParts(parts))
    const bytes = line === 1 && isJson ? withoutMark(joined) : joined
    const position = BigInt(line)
    parts = []
    length = 0
    if (isJson && isBlank(bytes)) return undefined
    if (position <= after) return undefined
    const fault = isJson ? jsonFault(bytes) : undefined
    if (fault !== undefined) {
      const message = `${fault}; each line must be exactly one JSON value`
      return { code: "malformed", line, message }
    }
    pieces.push({ position, bytes })
    return undefined
  }

  return {
    push: (chunk, pieces) => {
      let from = 0
      while (from < chunk.length) {
        const feed = chunk.indexOf(LINE_FEED, from)
        const part = chunk.subarray(from, feed < 0 ? chunk.length : feed)
        length += part.length
        if (length > pieceBytesMax) return tooLong()
        parts.push(part)
        if (feed < 0) return undefined
        const fault = finishLine(pieces)
        if (fault !== undefined) return fault
        line += 1
        from = feed + 1
      }
      return undefined
    },
    end: (pieces) => (length === 0 ? undefined : finishLine(pieces))
  }
}
