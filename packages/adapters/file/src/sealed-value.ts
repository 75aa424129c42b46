/**
 * Values with a checksum: CRC-32 of the key and the value (4 bytes), then the value. With the key
 * in it, a value that stands under another's key does not pass either.
 */
import { crc32 } from "node:zlib"

/** Bytes of the checksum. */
const CHECKSUM_BYTES = 4

/** The value with its checksum in front; a copy. */
export const sealValue = (key: Uint8Array, value: Uint8Array): Buffer => {
  const sealed = Buffer.allocUnsafe(CHECKSUM_BYTES + value.length)
  sealed.set(value, CHECKSUM_BYTES)
  sealed.writeUInt32BE(crc32(value, crc32(key)))
  return sealed
}

/** The value without its checksum, or `undefined` if that is wrong; shares the sealed memory. */
export const openValue = (key: Uint8Array, sealed: Uint8Array): Uint8Array | undefined => {
  if (sealed.length < CHECKSUM_BYTES) return undefined
  const view = new DataView(sealed.buffer, sealed.byteOffset, sealed.byteLength)
  const value = sealed.subarray(CHECKSUM_BYTES)
  return view.getUint32(0) === crc32(value, crc32(key)) ? value : undefined
}
