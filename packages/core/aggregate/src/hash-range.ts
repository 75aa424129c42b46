/** The hash range of a shard, and the KCL's rule about user records outside of it. */
import { Brand, Data, Result } from "effect"
import type { Md5 } from "./platform.ts"
import type { UserRecord } from "./user-record.ts"
import { encodeUtf8 } from "./utf8.ts"

/** The greatest hash key: 128 bits. */
export const hashKeyMax = 2n ** 128n - 1n

/** The hash keys of a shard, both ends included; made by `hashRange` alone. */
export type HashRange = Brand.Branded<
  { readonly first: bigint; readonly last: bigint },
  "HashRange"
>
const branded = Brand.nominal<HashRange>()

/** The ends are swapped or outside of 0 to 2^128-1; such a range would drop every aggregate. */
export class HashRangeInvalid extends Data.TaggedError("HashRangeInvalid")<{
  readonly first: bigint
  readonly last: bigint
  readonly message: string
}> {}

/** A range of hash keys, or why it is none. */
export const hashRange = (ends: {
  readonly first: bigint
  readonly last: bigint
}): Result.Result<HashRange, HashRangeInvalid> => {
  const { first, last } = ends
  if (first >= 0n && first <= last && last <= hashKeyMax) {
    return Result.succeed(branded({ first, last }))
  }
  const message = `${first} to ${last} is no range: 0 <= first <= last < 2^128 would be right`
  return Result.fail(new HashRangeInvalid({ first, last, message }))
}

/** A hash key that is written as Kinesis wants it: decimal, without sign or leading zeros. */
export const isHashKey = (text: string): boolean =>
  /^(?:0|[1-9]\d{0,38})$/.test(text) && BigInt(text) <= hashKeyMax

const hashOf = (partitionKey: string, md5: Md5): bigint => {
  let hash = 0n
  for (const byte of md5(encodeUtf8(partitionKey))) hash = (hash << 8n) | BigInt(byte)
  return hash
}

const isInside = (hash: bigint, range: HashRange): boolean =>
  hash >= range.first && hash <= range.last

/** Where the search for a record outside of a range ended. */
export type RangeCheck =
  | { readonly _tag: "AllInside" }
  | { readonly _tag: "Outside"; readonly index: number }
  | { readonly _tag: "NotANumber"; readonly index: number }

/**
 * Looks for the first user record outside of a range, by its explicit hash key where it has one
 * and else by the MD5 of its partition key. Each key is hashed once.
 */
export const checkRange = (
  records: ReadonlyArray<UserRecord>,
  range: HashRange,
  md5: Md5
): RangeCheck => {
  const byPartitionKey = new Map<string, boolean>()
  const byHashKey = new Map<string, boolean>()
  for (const [index, record] of records.entries()) {
    const { explicitHashKey, partitionKey } = record
    let inside: boolean | undefined
    if (explicitHashKey === undefined) {
      inside = byPartitionKey.get(partitionKey) ?? isInside(hashOf(partitionKey, md5), range)
      byPartitionKey.set(partitionKey, inside)
    } else {
      if (!/^\d{1,39}$/.test(explicitHashKey)) return { _tag: "NotANumber", index }
      inside = byHashKey.get(explicitHashKey) ?? isInside(BigInt(explicitHashKey), range)
      byHashKey.set(explicitHashKey, inside)
    }
    if (!inside) return { _tag: "Outside", index }
  }
  return { _tag: "AllInside" }
}
