/** The Lease port on a shared key-value store: one key a shard. */
import { Lease, LeaseConflict, LeaseError, LeaseRecord, type StoredLease } from "@holdfast/records"
import { Effect, Layer, Option } from "effect"
import { jsonValue } from "./json-value.ts"
import type { KeyValueRefusal, MemoryKeyValue } from "./memory-key-value.ts"

const codec = jsonValue(LeaseRecord)
const prefix = "lease/"

const refused = (shard: string, { code, message }: KeyValueRefusal) => {
  switch (code) {
    case "conflict":
      return new LeaseConflict({ shard, message })
    case "unavailable":
    case "full":
      return new LeaseError({ code, message })
    case "too-large":
      return new LeaseError({ code: "full", message })
  }
}

const list = (store: MemoryKeyValue): Lease["Service"]["list"] =>
  Effect.gen(function* () {
    const entries = yield* Effect.mapError(
      store.entries(prefix),
      ({ message }) => new LeaseError({ code: "unavailable", message })
    )
    const leases: Array<StoredLease> = []
    for (const { key, value, revision } of entries) {
      const record = codec.decode(value)
      if (Option.isNone(record)) {
        const message = `the lease of ${key.slice(prefix.length)} cannot be read`
        return yield* new LeaseError({ code: "corrupt", message })
      }
      leases.push({ record: record.value, revision })
    }
    return leases
  })

/** The key under which a shard's lease is stored. */
export const leaseKey = (shard: string): string => `${prefix}${shard}`

/** A Lease that every service with this store shares. */
export const memoryLease = (store: MemoryKeyValue): Layer.Layer<Lease> =>
  Layer.succeed(Lease, {
    list: list(store),
    write: ({ record, expected }) =>
      Effect.mapError(
        store.put({ key: leaseKey(record.shard), value: codec.encode(record), expected }),
        (refusal) => refused(record.shard, refusal)
      )
  })
