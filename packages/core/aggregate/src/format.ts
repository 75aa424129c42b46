/** The constants of the aggregated record format. */

/** The magic number of a standard aggregate; a private format differs in the first byte alone. */
export const magic: ReadonlyArray<number> = [0xf3, 0x89, 0x9a, 0xc2]

/** Bytes of the magic number. */
export const magicBytes = 4

/** Bytes of the MD5 digest at the end. */
export const digestBytes = 16

/**
 * The three forms of an envelope.
 *
 * - `standard`: `F3 89 9A C2`, message, digest. Every consumer library of Kinesis opens it.
 * - `hidden`: `00 89 9A C2`, message, digest. Private: the KCL leaves it closed.
 * - `deflated`: `01 89 9A C2`, zlib stream of message and digest. Private as well.
 */
export type Format = "standard" | "hidden" | "deflated"

/** The first byte of each format. */
export const firstByteOf: Readonly<Record<Format, number>> = {
  standard: 0xf3,
  hidden: 0x00,
  deflated: 0x01
}

/** The format whose magic number bytes begin with; none when they begin with no such number. */
export const formatOf = (bytes: Uint8Array): Format | undefined => {
  if (bytes[1] !== magic[1] || bytes[2] !== magic[2] || bytes[3] !== magic[3]) return undefined
  const first = bytes[0]
  if (first === firstByteOf.standard) return "standard"
  if (first === firstByteOf.hidden) return "hidden"
  return first === firstByteOf.deflated ? "deflated" : undefined
}

/** Tags of the fields of `AggregatedRecord`: all three hold bytes with their length before them. */
export const messageField = {
  partitionKey: 0x0a,
  explicitHashKey: 0x12,
  record: 0x1a
} as const

/** Tags of the fields of `Record`: two indexes into the tables, the data, the tags. */
export const recordField = {
  partitionKeyIndex: 0x08,
  explicitHashKeyIndex: 0x10,
  data: 0x1a,
  tag: 0x22
} as const

/** Tags of the fields of `Tag`. */
export const tagField = { key: 0x0a, value: 0x12 } as const
