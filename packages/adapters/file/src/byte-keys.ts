/** Keys of tables as bytes whose order is the order that is wanted. */

/** Bytes of a whole number in a key. */
const NUMBER_BYTES = 8
/** The byte after a name; names hold no zero byte. */
const END_OF_NAME = 0

/** A whole number from 0 to 2^64 - 1, most significant byte first. */
export const numberKey = (value: bigint): Buffer => {
  const key = Buffer.allocUnsafe(NUMBER_BYTES)
  key.writeBigUInt64BE(value)
  return key
}

/** The number in the last 8 bytes of a key. */
export const numberOfKey = (key: Buffer): bigint => key.readBigUInt64BE(key.length - NUMBER_BYTES)

/** A name and what follows it. */
export const namedKey = (name: string, rest: Uint8Array): Buffer => {
  const bytes = Buffer.from(name, "utf8")
  return Buffer.concat([bytes, Buffer.of(END_OF_NAME), rest])
}

/** The smallest key above every key of a name. */
export const endOfName = (name: string): Buffer =>
  Buffer.concat([Buffer.from(name, "utf8"), Buffer.of(END_OF_NAME + 1)])

/** The name at the beginning of a key and what follows it. */
export const splitNamedKey = (key: Buffer): { readonly name: string; readonly rest: Buffer } => {
  const end = key.indexOf(END_OF_NAME)
  return { name: key.toString("utf8", 0, end), rest: key.subarray(end + 1) }
}

/** The smallest key above a key. */
export const keyAfter = (key: Uint8Array): Buffer => Buffer.concat([key, Buffer.of(0)])
