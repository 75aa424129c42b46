/** What the PartitionStore contract's tests share: keys, writes, an open store. */
import { PartitionStore, type PartitionWrite } from "@holdfast/storage"
import type { Scope } from "effect"
import { Context, Effect, Layer, Option } from "effect"
import type { PartitionStorage } from "./partition-store-contract.ts"

/** A partition key of 64 digits that ends in the given ones. */
export const keyOf = (digits: string): string => digits.padStart(64, "0")

const encoder = new TextEncoder()

/** Text as bytes. */
export const bytes = (value: string): Uint8Array => encoder.encode(value)

/** A write of a partition of the application `archive`. */
export const partition = (
  digits: string,
  state: string | undefined,
  tags: ReadonlyArray<string> = []
): PartitionWrite => ({
  application: "archive",
  key: keyOf(digits),
  state: Option.map(Option.fromUndefinedOr(state), bytes),
  tags: tags.map(bytes)
})

/** Runs a use of the store that ends with the store closed. */
export const withStore = <A, E>(
  storage: PartitionStorage,
  use: (store: PartitionStore["Service"]) => Effect.Effect<A, E, Scope.Scope>
) =>
  Effect.scoped(
    Effect.flatMap(Layer.build(Layer.fresh(storage.layer)), (context) =>
      use(Context.get(context, PartitionStore))
    )
  )

/** A partition's state as text, "corrupt", or "none". */
export const stateOf = (
  store: PartitionStore["Service"],
  digits: string,
  application = "archive"
) =>
  Effect.map(store.load({ application, key: keyOf(digits) }), (found) => {
    if (Option.isNone(found)) return "none"
    return found.value._tag === "Intact" ? new TextDecoder().decode(found.value.state) : "corrupt"
  })
