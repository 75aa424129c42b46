/** Several byte strings in one: each as its length (4 bytes) and its bytes. */

const LENGTH_BYTES = 4

/** Joins byte strings. */
export const joinFrames = (parts: ReadonlyArray<Uint8Array>): Buffer => {
  const length = parts.reduce((sum, part) => sum + LENGTH_BYTES + part.length, 0)
  const joined = Buffer.allocUnsafe(length)
  let offset = 0
  for (const part of parts) {
    joined.writeUInt32BE(part.length, offset)
    joined.set(part, offset + LENGTH_BYTES)
    offset += LENGTH_BYTES + part.length
  }
  return joined
}

/** The byte strings of `joinFrames`, each a copy. What was not joined by it throws. */
export const splitFrames = (joined: Uint8Array): ReadonlyArray<Uint8Array> => {
  const view = new DataView(joined.buffer, joined.byteOffset, joined.byteLength)
  const parts: Array<Uint8Array> = []
  let offset = 0
  while (offset < joined.length) {
    const end = offset + LENGTH_BYTES + view.getUint32(offset)
    if (end > joined.length) throw new RangeError("a frame is longer than what holds it")
    parts.push(new Uint8Array(joined.subarray(offset + LENGTH_BYTES, end)))
    offset = end
  }
  return parts
}

/** How many byte strings were joined. What was not joined by `joinFrames` throws. */
export const countFrames = (joined: Uint8Array): number => {
  const view = new DataView(joined.buffer, joined.byteOffset, joined.byteLength)
  let count = 0
  let offset = 0
  while (offset < joined.length) {
    offset += LENGTH_BYTES + view.getUint32(offset)
    count += 1
  }
  return count
}
