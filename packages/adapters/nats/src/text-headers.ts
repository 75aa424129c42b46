/** The headers of control messages, names to values as text, over header blocks. */
import type { Headers } from "@holdfast/messaging"
import { Result } from "effect"
import {
  encodeHeaderBlock,
  type HeaderBytes,
  headerFault,
  parseHeaderBlock
} from "./header-block.ts"

const encoder = new TextEncoder()
const decoder = new TextDecoder()
const noHeaders: Headers = {}

/** Encodes headers to a block, none without headers; or says what is wrong with one of them. */
export const encodeTextHeaders = (
  headers: Headers | undefined
): Result.Result<Uint8Array | undefined, string> => {
  const lines: Array<HeaderBytes> = []
  for (const [name, value] of Object.entries(headers ?? noHeaders)) {
    const line: HeaderBytes = [encoder.encode(name), encoder.encode(value)]
    const fault = headerFault(line)
    if (fault !== undefined) return Result.fail(fault)
    lines.push(line)
  }
  return Result.succeed(lines.length === 0 ? undefined : encodeHeaderBlock(lines))
}

/** Decodes a block; of a repeated name the first value counts, as for `nats` tools. */
export const decodeTextHeaders = (block: Uint8Array): Headers => {
  if (block.length === 0) return noHeaders
  const headers = new Map<string, string>()
  for (const [name, value] of parseHeaderBlock(block)) {
    const text = decoder.decode(name)
    if (!headers.has(text)) headers.set(text, decoder.decode(value))
  }
  return Object.fromEntries(headers)
}
