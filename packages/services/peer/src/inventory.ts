/**
 * What this peer holds, by application: digests of ranges, lists of single partitions, and the
 * partitions that are damaged.
 */
import type { KeyRange } from "@holdfast/keyspace"
import { MAX_KEY, MIN_KEY, PartitionKey } from "@holdfast/keyspace"
import { PartitionStore, type PartitionStoreError } from "@holdfast/storage"
import { Effect, Result } from "effect"
import type { Address } from "./address.ts"
import { addressText } from "./address.ts"
import type { RangeSum } from "./digest-buckets.ts"
import { addSums, coverOf, DigestBuckets, emptySum, shareOf } from "./digest-buckets.ts"
import type { HostedApplication, Replica } from "./replica.ts"
import { isStoredProvisional, storedDigest } from "./stored-form.ts"
import { forEachPage } from "./stored-pages.ts"

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

/** Reads the inventory out of the store. Linear in the store. */
export const makeInventory = Effect.fnUntraced(function* (
  applications: ReadonlyMap<string, HostedApplication>
): Effect.fn.Return<Inventory, PartitionStoreError, PartitionStore> {
  const store = yield* PartitionStore
  const damaged = new Map<string, Address>()
  const provisional = new Map<string, Address>()
  const buckets = new Map<string, DigestBuckets>()
  for (const name of applications.keys()) buckets.set(name, new DigestBuckets())

  const read = Effect.fnUntraced(
    function* (application: string, ranges: ReadonlyArray<KeyRange>) {
      const found: Array<Listed & { readonly isProvisional: boolean }> = []
      yield* forEachPage({ application, ranges }, (page) =>
        Effect.sync(() => {
          for (const stored of page) {
            const key = PartitionKey.make(stored.key)
            const state = stored._tag === "Intact" ? stored.state : new Uint8Array()
            const digest = storedDigest(state)
            if (Result.isFailure(digest)) {
              damaged.set(addressText({ application, key }), { application, key })
            } else {
              found.push({ key, digest: digest.success, isProvisional: isStoredProvisional(state) })
            }
          }
        })
      )
      return found
    },
    Effect.provideService(PartitionStore, store)
  )
  const list = (application: string, range: KeyRange) =>
    Effect.map(read(application, [range]), (found) =>
      found.map(({ digest, key }): Listed => ({ key, digest }))
    )

  for (const [application, sums] of buckets) {
    for (const { digest, isProvisional, key } of yield* read(application, [[MIN_KEY, MAX_KEY]])) {
      sums.change(key, null, digest)
      if (isProvisional) provisional.set(addressText({ application, key }), { application, key })
    }
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
    list,
    sum: Effect.fnUntraced(function* (application, range) {
      const cover = coverOf(range)
      let sum = buckets.get(application)?.sum(cover.buckets) ?? emptySum
      for (const piece of cover.pieces) {
        for (const { digest, key } of yield* list(application, piece)) {
          sum = addSums(sum, shareOf(key, digest))
        }
      }
      return sum
    })
  }
})
