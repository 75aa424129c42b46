/**
 * Several byte strings in one attachment: each with its length before it, 4 bytes big-endian.
 */
import { Option } from "effect"

const lengthBytes = 4

/** The bytes that a part takes in an attachment. */
export const partBytes = (part: Uint8Array): number => lengthBytes + part.length

/** Packs parts in order. */
export const encodeParts = (parts: ReadonlyArray<Uint8Array>): Uint8Array => {
  const body = new Uint8Array(parts.reduce((sum, part) => sum + partBytes(part), 0))
  const view = new DataView(body.buffer)
  let offset = 0
  for (const part of parts) {
    view.setUint32(offset, part.length)
    body.set(part, offset + lengthBytes)
    offset += partBytes(part)
  }
  return body
}

/** Unpacks parts, as views of the attachment; none when a length points outside it. */
export const decodeParts = (body: Uint8Array): Option.Option<ReadonlyArray<Uint8Array>> => {
  const view = new DataView(body.buffer, body.byteOffset, body.byteLength)
  const parts: Array<Uint8Array> = []
  let offset = 0
  while (offset < body.length) {
    if (offset + lengthBytes > body.length) return Option.none()
    const end = offset + lengthBytes + view.getUint32(offset)
    if (end > body.length) return Option.none()
    parts.push(body.subarray(offset + lengthBytes, end))
    offset = end
  }
  return Option.some(parts)
}
