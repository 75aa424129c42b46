/** Aggregated messages for the tests. */
import { createHash } from "node:crypto"
import { Aggregator } from "@holdfast/aggregate"
import { Option } from "effect"

const encoder = new TextEncoder()

/** The digest that seals a message. */
export const md5 = (bytes: Uint8Array): Uint8Array => createHash("md5").update(bytes).digest()

/** A message of user records; of one alone, too. */
export const aggregateOf = (
  ...records: ReadonlyArray<
    readonly [partitionKey: string, data: string | Uint8Array, explicitHashKey?: string]
  >
): Uint8Array => {
  const aggregator = new Aggregator({ md5, single: "aggregated" })
  for (const [partitionKey, data, explicitHashKey] of records) {
    const bytes = typeof data === "string" ? encoder.encode(data) : data
    const { _tag } = aggregator.add({ partitionKey, explicitHashKey, data: bytes })
    if (_tag !== "Added") throw new Error(`a test's aggregate has no room: ${_tag}`)
  }
  return Option.getOrThrow(aggregator.finish()).data
}

/** A message without user records: it has one of the tables, and nothing else. */
export const emptyAggregate = (): Uint8Array => {
  const message = Uint8Array.of(0x0a, 0x01, 0x61)
  return Uint8Array.from([0xf3, 0x89, 0x9a, 0xc2, ...message, ...md5(message)])
}
