/**
 * What this peer holds, by application: digests of ranges, lists of single partitions, and the
 * partitions that are damaged.
 */
import type { KeyRange } from "@holdfast/keyspace"
import { MAX_KEY, MIN_KEY, PartitionKey } from "@holdfast/keyspace"
import { PartitionStore, type PartitionStoreError } from "@holdfast/storage"
import { Effect, Option, Result } from "effect"
import type { Address } from "./address.ts"
import { addressText } from "./address.ts"
import type { RangeSum } from "./digest-buckets.ts"
import { addSums, coverOf, DigestBuckets, emptySum, shareOf } from "./digest-buckets.ts"
import type { HostedApplication, Replica } from "./replica.ts"
import { isStoredProvisional, storedDigest } from "./stored-form.ts"

/** A partition and the digest of its saved state. */
export interface Listed {
  readonly key: PartitionKey
  readonly digest: string
}

/** What a peer holds. */
export interface Inventory {
  /** A partition's saved state went from one to another; null for none. */
  readonly change: (address: Address, before: Replica | null, after: Replica | null) => void
  readonly sum: (
    application: string,
    range: KeyRange
  ) => Effect.Effect<RangeSum, PartitionStoreError>
  readonly list: (
    application: string,
    range: KeyRange
  ) => Effect.Effect<ReadonlyArray<Listed>, PartitionStoreError>
  /** Partitions whose stored bytes cannot be read. */
  readonly damaged: Map<string, Address>
  /** Partitions whose birth waits to be confirmed. */
  readonly provisional: Map<string, Address>
}

const PAGE = 256

/** Reads the inventory out of the store. Linear in the store. */
export const makeInventory = Effect.fnUntraced(function* (
  applications: ReadonlyMap<string, HostedApplication>
): Effect.fn.Return<Inventory, PartitionStoreError, PartitionStore> {
  const store = yield* PartitionStore
  const damaged = new Map<string, Address>()
  const provisional = new Map<string, Address>()
  const buckets = new Map<string, DigestBuckets>()
  for (const name of applications.keys()) buckets.set(name, new DigestBuckets())

  const list = Effect.fnUntraced(function* (application: string, ranges: ReadonlyArray<KeyRange>) {
    const listed: Array<Listed> = []
    let after = Option.none<string>()
    for (;;) {
      const page = yield* store.scan({ application, after, ranges, limit: PAGE })
      for (const stored of page) {
        const key = PartitionKey.make(stored.key)
        const digest = stored._tag === "Intact" ? storedDigest(stored.state) : null
        const address = { application, key }
        if (digest !== null && Result.isSuccess(digest)) {
          listed.push({ key, digest: digest.success })
        } else damaged.set(addressText(address), address)
        if (stored._tag === "Intact" && isStoredProvisional(stored.state)) {
          provisional.set(addressText(address), address)
        }
      }
      const last = page.at(-1)
      if (last === undefined || page.length < PAGE) return listed
      after = Option.some(last.key)
    }
  })

  for (const [application, sums] of buckets) {
    for (const { digest, key } of yield* list(application, [[MIN_KEY, MAX_KEY]]))
      sums.change(key, null, digest)
  }

  return {
    damaged,
    provisional,
    change: (address, before, after) => {
      const { application, key } = address
      const digestOf = (replica: Replica | null) => replica?.digest() ?? null
      buckets.get(application)?.change(key, digestOf(before), digestOf(after))
      const text = addressText(address)
      damaged.delete(text)
      if (after?.isProvisional() === true) provisional.set(text, address)
      else provisional.delete(text)
    },
    list: (application, range) => list(application, [range]),
    sum: Effect.fnUntraced(function* (application, range) {
      const cover = coverOf(range)
      let sum = buckets.get(application)?.sum(cover.buckets) ?? emptySum
      for (const piece of cover.pieces) {
        for (const { digest, key } of yield* list(application, [piece])) {
          sum = addSums(sum, shareOf(key, digest))
        }
      }
      return sum
    })
  }
})
