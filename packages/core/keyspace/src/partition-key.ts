/**
 * Partition keys: the 256-bit addresses of partitions.
 *
 * A key is written as exactly 64 lower-case hexadecimal digits, so that the order of the strings is
 * the order of the numbers and a key can stand in a file name, a subject or a line of JSON as it
 * is.
 *
 * 1. `keyToBigInt` and `keyFromBigInt` are inverse on 0 .. 2^256 - 1.
 * 2. `a < b` as strings exactly when `keyToBigInt(a) < keyToBigInt(b)`.
 * 3. Two keys are neighbours exactly when `nextKey(a) === b`; nothing precedes `MIN_KEY`, nothing
 *    follows `MAX_KEY`.
 */
import { Result, Schema } from "effect"
import { KeyTextRefused } from "./errors.ts"

/** Digits of a key. */
const KEY_DIGITS = 64
/** Bytes of a key. */
const KEY_BYTES = 32

/** How many keys there are: 2^256. */
export const KEY_SPACE_SIZE: bigint = 1n << 256n

/** A 256-bit partition key as exactly 64 lower-case hexadecimal digits. */
export const PartitionKey = Schema.String.pipe(
  Schema.check(Schema.isPattern(/^[0-9a-f]{64}$/)),
  Schema.brand("PartitionKey")
)
/** A 256-bit partition key as exactly 64 lower-case hexadecimal digits. */
export type PartitionKey = typeof PartitionKey.Type

/** Brands text that is known to be a key: the only cast in this module. */
const brand = (digits: string): PartitionKey => digits as PartitionKey

/** The smallest key. */
export const MIN_KEY: PartitionKey = brand("0".repeat(KEY_DIGITS))
/** The largest key. */
export const MAX_KEY: PartitionKey = brand("f".repeat(KEY_DIGITS))

/** The number that a key stands for. */
export const keyToBigInt = (key: PartitionKey): bigint => BigInt(`0x${key}`)

/** The key of a number; numbers outside 0 .. 2^256 - 1 wrap round, as 256-bit arithmetic does. */
export const keyFromBigInt = (value: bigint): PartitionKey =>
  brand(BigInt.asUintN(256, value).toString(16).padStart(KEY_DIGITS, "0"))

/**
 * Reads a key from text that a person wrote: 1 to 64 hexadecimal digits of either case; leading
 * zeros may be left out.
 */
export const keyFromHex = (text: string): Result.Result<PartitionKey, KeyTextRefused> =>
  /^[0-9a-fA-F]{1,64}$/.test(text)
    ? Result.succeed(brand(text.toLowerCase().padStart(KEY_DIGITS, "0")))
    : Result.fail(
        new KeyTextRefused({
          message: `"${text.slice(0, 80)}" is no partition key: 1 to 64 hexadecimal digits are.`
        })
      )

const HEX_PAIRS: ReadonlyArray<string> = Array.from({ length: 256 }, (_, byte) =>
  byte.toString(16).padStart(2, "0")
)

/**
 * The key of 32 bytes, most significant first. Other lengths are a programming error and throw.
 */
export const keyFromBytes = (bytes: Uint8Array): PartitionKey => {
  if (bytes.length !== KEY_BYTES) {
    throw new Error(`a partition key has ${KEY_BYTES} bytes, not ${bytes.length}`)
  }
  let digits = ""
  for (const byte of bytes) digits += HEX_PAIRS[byte]
  return brand(digits)
}

/** The 32 bytes of a key, most significant first. */
export const keyToBytes = (key: PartitionKey): Uint8Array => {
  const bytes = new Uint8Array(KEY_BYTES)
  for (let index = 0; index < KEY_BYTES; index++) {
    bytes[index] = Number.parseInt(key.slice(index * 2, index * 2 + 2), 16)
  }
  return bytes
}

/** A SHA-256 function, handed in by the caller. */
export type Sha256 = (bytes: Uint8Array) => Uint8Array

/** The key of a name, spread evenly over the key space: the SHA-256 of its bytes. */
export const keyFromHash = (sha256: Sha256, bytes: Uint8Array): PartitionKey =>
  keyFromBytes(sha256(bytes))

/** The key after this one, or `undefined` after the last. */
export const nextKey = (key: PartitionKey): PartitionKey | undefined =>
  key === MAX_KEY ? undefined : keyFromBigInt(keyToBigInt(key) + 1n)

/** The key before this one, or `undefined` before the first. */
export const previousKey = (key: PartitionKey): PartitionKey | undefined =>
  key === MIN_KEY ? undefined : keyFromBigInt(keyToBigInt(key) - 1n)

/**
 * A number drawn from the low 32 bits of a key: the same for every reader, even over keys. As a
 * rotation of a route it spreads first owners evenly and keeps each key with one of them.
 */
export const keyRotation = (key: PartitionKey): number =>
  Number.parseInt(key.slice(KEY_DIGITS - 8), 16)
