/** What must be true of an aggregator, checked by tests after each step. */
import type { Aggregator } from "./aggregator.ts"
import { fieldBytes } from "./wire-writer.ts"

/** A broken invariant, by its number in `invariants`. */
export interface Violation {
  readonly invariant: number
  readonly message: string
}

/**
 * 1. The bytes of the message that were summed up are those of a recount.
 * 2. Every index names an entry, and every entry is first named in the order of the table.
 * 3. The records are no more than the limit.
 */
export const invariants = (aggregator: Aggregator): ReadonlyArray<Violation> => {
  const { explicitHashKeys, limits, messageBytes, partitionKeys, records } = aggregator.contents
  const violations: Array<Violation> = []
  const check = (invariant: number, holds: boolean, message: string): void => {
    if (!holds) violations.push({ invariant, message })
  }
  let counted = 0
  for (const key of partitionKeys.encodedKeys()) counted += fieldBytes(key.length)
  for (const key of explicitHashKeys.encodedKeys()) counted += fieldBytes(key.length)
  let partitionKeysSeen = 0
  let hashKeysSeen = 0
  records.forEach((record, at) => {
    const { bytes, explicitHashKeyIndex = -1, partitionKeyIndex } = record
    counted += fieldBytes(bytes)
    check(2, partitionKeyIndex <= partitionKeysSeen, `record ${at} is ahead of the key table`)
    check(2, explicitHashKeyIndex <= hashKeysSeen, `record ${at} is ahead of the hash key table`)
    if (partitionKeyIndex === partitionKeysSeen) partitionKeysSeen++
    if (explicitHashKeyIndex === hashKeysSeen) hashKeysSeen++
  })
  check(1, counted === messageBytes, `${counted} bytes counted, ${messageBytes} summed up`)
  check(2, partitionKeysSeen === partitionKeys.size, "the key table has entries without a record")
  check(2, hashKeysSeen === explicitHashKeys.size, "the hash key table has unused entries")
  check(3, records.length <= limits.records, `${records.length} records over ${limits.records}`)
  return violations
}
