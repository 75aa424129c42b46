/**
 * A digest of what a device holds, cheap to keep up to date on both sides.
 *
 * The digest is the sum, modulo 2^32 in each of two words, of a 64-bit hash of every copy's
 * `(fileId, chunkId, version)`, and the number of copies. Addition commutes, so the order in which
 * copies come and go does not matter; removal is subtraction. The service compares the digest that
 * a chunk server sends with the one that its own map implies; a lasting difference asks for a
 * report.
 *
 * The hash mixes five 32-bit words (high and low halves of the file id, the chunk id, high and low
 * halves of the version) with the finaliser of MurmurHash3, once per seed. It guards against lost
 * and repeated messages, not against an adversary.
 */

/** The digest of a set of copies: two sums modulo 2^32 and a count. */
export interface Digest {
  readonly low: number
  readonly high: number
  readonly count: number
}

/** The digest of nothing. */
export const emptyDigest: Digest = { low: 0, high: 0, count: 0 }

const mix = (seed: number, word: number): number => {
  let value = Math.imul(seed ^ word, 0x85ebca6b)
  value = Math.imul(value ^ (value >>> 13), 0xc2b2ae35)
  return (value ^ (value >>> 16)) + 0x9e3779b9
}

const hash = (seed: number, fileId: number, chunkId: number, version: number): number => {
  let value = mix(seed, (fileId / 0x100000000) | 0)
  value = mix(value, fileId | 0)
  value = mix(value, chunkId | 0)
  value = mix(value, (version / 0x100000000) | 0)
  return mix(value, version | 0) >>> 0
}

/** The low word that a copy adds to a digest, as an unsigned 32-bit number. */
export const digestLow = (fileId: number, chunkId: number, version: number): number =>
  hash(0x2545f491, fileId, chunkId, version)

/** The high word that a copy adds to a digest, as an unsigned 32-bit number. */
export const digestHigh = (fileId: number, chunkId: number, version: number): number =>
  hash(0x1b873593, fileId, chunkId, version)

/** The digest with one copy more. */
export const digestAdd = (
  digest: Digest,
  fileId: number,
  chunkId: number,
  version: number
): Digest => ({
  low: (digest.low + digestLow(fileId, chunkId, version)) >>> 0,
  high: (digest.high + digestHigh(fileId, chunkId, version)) >>> 0,
  count: digest.count + 1
})

/** The digest with one copy less; the copy must have been added before. */
export const digestRemove = (
  digest: Digest,
  fileId: number,
  chunkId: number,
  version: number
): Digest => ({
  low: (digest.low - digestLow(fileId, chunkId, version)) >>> 0,
  high: (digest.high - digestHigh(fileId, chunkId, version)) >>> 0,
  count: digest.count - 1
})

/** Whether two digests say that the same copies are held. */
export const digestEquals = (left: Digest, right: Digest): boolean =>
  left.low === right.low && left.high === right.high && left.count === right.count
