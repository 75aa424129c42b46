/** A digest over a sequence of payloads: SHA-256 of each one's length and bytes, in order. */
import { createHash } from "node:crypto"

/** Takes payloads in order, then says their digest as hex digits. */
export interface RecordDigest {
  readonly add: (data: Uint8Array) => void
  readonly hex: () => string
  readonly count: () => number
}

/** Starts a digest. */
export const makeRecordDigest = (): RecordDigest => {
  const hash = createHash("sha256")
  const length = new DataView(new ArrayBuffer(4))
  let count = 0
  return {
    add: (data) => {
      length.setUint32(0, data.length)
      hash.update(new Uint8Array(length.buffer))
      hash.update(data)
      count += 1
    },
    hex: () => hash.copy().digest("hex"),
    count: () => count
  }
}

/** One digest of several sequences, each by its name, in the order of the names. */
export const joinDigests = (digests: ReadonlyMap<string, RecordDigest>): string => {
  const hash = createHash("sha256")
  for (const [name, digest] of [...digests].sort(([left], [right]) => (left < right ? -1 : 1))) {
    hash.update(`${name} ${digest.hex()}\n`)
  }
  return hash.digest("hex")
}
