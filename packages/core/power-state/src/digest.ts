/**
 * A running 64-bit hash over ids, as two 32-bit lanes (multiply and mix, constants of MurmurHash3
 * and xxHash). It tells histories apart that reached the same id on different ways; it is no
 * protection against somebody who wants to deceive.
 */
import { Schema } from "effect"
import type { EventId } from "./event-id.ts"
import type { Participant } from "./participant.ts"

/** A 64-bit hash, as two unsigned 32-bit numbers. */
export interface Digest {
  readonly high: number
  readonly low: number
}

/** A digest as 16 hexadecimal digits. */
export const DigestText = Schema.String.pipe(Schema.check(Schema.isPattern(/^[0-9a-f]{16}$/)))

/** A digest that takes in word after word; it never leaves the function that made it. */
export interface Hasher {
  high: number
  low: number
}

/** Begins where a digest stands. */
export const hasherFrom = (digest: Digest): Hasher => ({ high: digest.high, low: digest.low })

/** A hasher that has seen nothing. */
export const newHasher = (): Hasher => ({ high: 0x9747b28c, low: 0x3c6ef372 })

/** Takes in one 32-bit word. */
export const mixWord = (hasher: Hasher, word: number): void => {
  const high = Math.imul(hasher.high ^ Math.imul(word, 0xcc9e2d51), 0x1b873593)
  const low = Math.imul(hasher.low ^ Math.imul(word, 0x85ebca77), 0xc2b2ae3d)
  hasher.high = (((high << 13) | (high >>> 19)) + (low >>> 7)) | 0
  hasher.low = (((low << 15) | (low >>> 17)) + (high >>> 5)) | 0
}

/** Takes in a safe integer. */
export const mixNumber = (hasher: Hasher, value: number): void => {
  mixWord(hasher, value | 0)
  mixWord(hasher, Math.floor(value / 0x1_0000_0000))
}

/** Takes in a text with its length. */
export const mixText = (hasher: Hasher, text: string): void => {
  mixWord(hasher, text.length)
  for (let index = 0; index < text.length; index += 1) mixWord(hasher, text.charCodeAt(index))
}

/** Takes in a participant. */
export const mixParticipant = (hasher: Hasher, participant: Participant): void => {
  mixText(hasher, participant.peer)
  mixNumber(hasher, participant.incarnation)
}

/** Takes in an id. */
export const mixEventId = (hasher: Hasher, id: EventId): void => {
  mixNumber(hasher, id.ordinal)
  mixParticipant(hasher, id.issuer)
}

const finalise = (word: number): number => {
  const first = Math.imul(word ^ (word >>> 16), 0x85ebca6b)
  const second = Math.imul(first ^ (first >>> 13), 0xc2b2ae35)
  return (second ^ (second >>> 16)) >>> 0
}

/** The state of a running hash, to go on from later. */
export const digestOf = (hasher: Hasher): Digest => ({
  high: hasher.high >>> 0,
  low: hasher.low >>> 0
})

/** Whether two digests are equal. */
export const sameDigest = (left: Digest, right: Digest): boolean =>
  left.high === right.high && left.low === right.low

const HEX_PAIRS: ReadonlyArray<string> = Array.from({ length: 256 }, (_, byte) =>
  byte.toString(16).padStart(2, "0")
)

const hex = (word: number): string =>
  `${HEX_PAIRS[(word >>> 24) & 255]}${HEX_PAIRS[(word >>> 16) & 255]}` +
  `${HEX_PAIRS[(word >>> 8) & 255]}${HEX_PAIRS[word & 255]}`

/** A running hash as text; exact, so that it can be read back. */
export const formatDigest = (digest: Digest): string => hex(digest.high) + hex(digest.low)

/** Reads what `formatDigest` wrote. */
export const parseDigest = (text: string): Digest => ({
  high: Number.parseInt(text.slice(0, 8), 16),
  low: Number.parseInt(text.slice(8, 16), 16)
})

/** The end of a hash, well mixed, as text. */
export const finishDigest = (hasher: Hasher): string => {
  const high = finalise(hasher.high ^ hasher.low)
  return hex(high) + hex(finalise(hasher.low ^ high))
}
