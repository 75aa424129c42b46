/** Several byte strings in one: a 32-bit little-endian length before each. */

/** Joins parts into one byte string. */
export const joinFrames = (parts: ReadonlyArray<Uint8Array>): Uint8Array => {
  let length = 0
  for (const part of parts) length += 4 + part.length
  const joined = new Uint8Array(length)
  const view = new DataView(joined.buffer)
  let at = 0
  for (const part of parts) {
    view.setUint32(at, part.length, true)
    joined.set(part, at + 4)
    at += 4 + part.length
  }
  return joined
}

/** Takes apart what `joinFrames` made; the bytes are known to be intact. */
export const splitFrames = (joined: Uint8Array): ReadonlyArray<Uint8Array> => {
  const view = new DataView(joined.buffer, joined.byteOffset, joined.byteLength)
  const parts: Array<Uint8Array> = []
  let at = 0
  while (at < joined.length) {
    const end = at + 4 + view.getUint32(at, true)
    parts.push(joined.slice(at + 4, end))
    at = end
  }
  return parts
}

/** How many frames begin in bytes that may end inside one. */
export const countFrames = (bytes: Uint8Array): number => {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let count = 0
  for (let at = 0; at < bytes.length; count += 1) {
    at += bytes.length - at < 4 ? 4 : 4 + view.getUint32(at, true)
  }
  return count
}
