/** What adding a user record to an aggregator can come to. */
import { isHashKey } from "./hash-range.ts"
import type { NewUserRecord } from "./user-record.ts"

/**
 * It was taken; `bytes` is the size of what `finish` would make now, outer keys included. Of a
 * deflated one, it is the most that it can be.
 */
export interface Added {
  readonly _tag: "Added"
  readonly records: number
  readonly bytes: number
}

/** It was not taken, since a limit is reached: `finish`, then add it again. */
export interface Full {
  readonly _tag: "Full"
  readonly limit: "bytes" | "records"
}

/** It was not taken and never will be: alone it would come to more than the limit. */
export interface TooLarge {
  readonly _tag: "TooLarge"
  readonly bytes: number
  readonly limit: number
  readonly message: string
}

/** It was not taken: a key or a tag is not what the format can carry or Kinesis accepts. */
export interface Unfit {
  readonly _tag: "Unfit"
  readonly what: "partitionKey" | "explicitHashKey" | "tag"
  readonly message: string
}

/** What became of a record; only with `Added` has the aggregator changed. */
export type Addition = Added | Full | TooLarge | Unfit

/** Characters of a partition key at most, counted as Kinesis does. */
export const partitionKeyCharactersMax = 256

const unfit = (what: Unfit["what"], message: string): Unfit => ({ _tag: "Unfit", what, message })

const isPartitionKey = (key: string): boolean => {
  if (key.length === 0 || !key.isWellFormed()) return false
  // Up to twice as many code units as characters.
  if (key.length > 2 * partitionKeyCharactersMax) return false
  return (
    key.length <= partitionKeyCharactersMax || Array.from(key).length <= partitionKeyCharactersMax
  )
}

/** Why a record cannot be taken whatever its size; none when it can. */
export const unfitness = (record: NewUserRecord): Unfit | undefined => {
  const { explicitHashKey, partitionKey, tags } = record
  if (!isPartitionKey(partitionKey)) {
    const right = `1 to ${partitionKeyCharactersMax} well-formed characters would be right`
    return unfit("partitionKey", `a partition key of ${partitionKey.length} code units: ${right}`)
  }
  if (explicitHashKey !== undefined && !isHashKey(explicitHashKey)) {
    const right = "a decimal number below 2^128 would be right"
    return unfit("explicitHashKey", `"${explicitHashKey.slice(0, 50)}" is no hash key: ${right}`)
  }
  for (const { key, value } of tags ?? []) {
    if (!key.isWellFormed() || value?.isWellFormed() === false) {
      return unfit("tag", "a tag holds a lone surrogate: well-formed text would be right")
    }
  }
  return undefined
}
