/**
 * The header block of a NATS message as bytes, both ways.
 *
 *     NATS/1.0[ code description]\r\n
 *     name: value\r\n            one line a header; names may repeat, order is kept
 *     \r\n
 *
 * The client library decodes values as UTF-8, trims them and groups repeated names, so records
 * would not survive it byte for byte; here nothing is decoded.
 *
 * 1. What {@link encodeHeaderBlock} made, {@link parseHeaderBlock} gives back byte for byte.
 * 2. A block of a client that writes no space behind the colon is read as it stands; exactly one
 *    space behind the colon belongs to the format, any further one to the value.
 */
import { MsgHdrsImpl } from "@nats-io/transport-node"

/** A header as bytes, name and value. */
export type HeaderBytes = readonly [name: Uint8Array, value: Uint8Array]

const carriageReturn = 13
const lineFeed = 10
const colon = 58
const space = 32
const statusLine = new TextEncoder().encode("NATS/1.0\r\n")

/** Why a header cannot be sent, or undefined when it can. */
export const headerFault = ([name, value]: HeaderBytes): string | undefined => {
  if (name.length === 0) return "a header has an empty name"
  for (const byte of name) {
    if (byte <= space || byte > 126 || byte === colon) {
      return (
        `the header name ${JSON.stringify(new TextDecoder().decode(name))} may only have ` +
        "printable ASCII characters without colon and space"
      )
    }
  }
  if (value.includes(carriageReturn) || value.includes(lineFeed)) {
    return (
      `the value of the header ${new TextDecoder().decode(name)} may not contain ` +
      "a carriage return or a line feed"
    )
  }
  return undefined
}

/** Encodes headers; the caller has checked each with {@link headerFault}. */
export const encodeHeaderBlock = (headers: ReadonlyArray<HeaderBytes>): Uint8Array => {
  let size = statusLine.length + 2
  for (const [name, value] of headers) size += name.length + value.length + 4
  const block = new Uint8Array(size)
  block.set(statusLine, 0)
  let at = statusLine.length
  for (const [name, value] of headers) {
    block.set(name, at)
    at += name.length
    block[at++] = colon
    block[at++] = space
    block.set(value, at)
    at += value.length
    block[at++] = carriageReturn
    block[at++] = lineFeed
  }
  block[at++] = carriageReturn
  block[at] = lineFeed
  return block
}

/** Reads the headers of a block, as views of it; a line without a colon is left out. */
export const parseHeaderBlock = (block: Uint8Array): Array<HeaderBytes> => {
  const headers: Array<HeaderBytes> = []
  let start = lineEnd(block, 0) + 2
  while (start < block.length) {
    const end = lineEnd(block, start)
    if (end === start) break
    const split = block.indexOf(colon, start)
    if (split > start && split < end) {
      const valueStart = block[split + 1] === space ? split + 2 : split + 1
      headers.push([block.subarray(start, split), block.subarray(valueStart, end)])
    }
    start = end + 2
  }
  return headers
}

const decoder = new TextDecoder()

/** The message id among a record's headers, by which the server tells repeats. */
export const messageIdOf = (headers: ReadonlyArray<HeaderBytes>): string | undefined => {
  for (const [name, value] of headers) {
    if (decoder.decode(name).toLowerCase() === "nats-msg-id") return decoder.decode(value)
  }
  return undefined
}

const lineEnd = (block: Uint8Array, from: number): number => {
  let at = block.indexOf(carriageReturn, from)
  while (at !== -1 && block[at + 1] !== lineFeed) at = block.indexOf(carriageReturn, at + 1)
  return at === -1 ? block.length : at
}

/** A header block that the client library sends as it is. */
export class EncodedHeaders extends MsgHdrsImpl {
  readonly #block: Uint8Array

  constructor(block: Uint8Array) {
    super()
    this.#block = block
  }

  override encode(): Uint8Array {
    return this.#block
  }
}
