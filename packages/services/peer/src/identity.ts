/**
 * Who this process is: the same peer and incarnation as its store says, in a new boot.
 *
 * 1. Identity and boot number are durable before anything leaves the process.
 * 2. A store of another peer or cluster, or one that holds partitions of nobody, is refused.
 * 3. Each start has a higher boot number; whoever hears a lower one knows a process that is gone.
 */
import { PeerId } from "@holdfast/keyspace"
import { PartitionStore, type PartitionStoreError } from "@holdfast/storage"
import { ClusterId, Count } from "@holdfast/wire"
import { Effect, Option, Schema } from "effect"
import type { PeerSettings } from "./settings.ts"

const Identity = Schema.Struct({
  format: Schema.Literal(1),
  cluster: ClusterId,
  peer: PeerId,
  incarnation: Count,
  boot: Count,
  /** The life is over: nothing is done under it any more. */
  ended: Schema.optionalKey(Schema.Literals(["left", "ejected"]))
})
/** Who a process is. */
export type Identity = typeof Identity.Type

/** The peer does not start on this store; `message` says what would be right. */
export class StartRefused extends Schema.TaggedError<StartRefused>()("StartRefused", {
  code: Schema.Literals([
    "not-empty",
    "empty",
    "other-peer",
    "damaged",
    "not-a-member",
    "bad-founders",
    "reserved",
    "store-lost",
    "left",
    "ejected",
    "not-handed-over",
    "kept"
  ]),
  message: Schema.String
}) {}

const factName = "identity"
const StoredIdentity = Schema.fromJsonString(Identity)
const encodeIdentity = Schema.encodeSync(StoredIdentity)
const decodeIdentity = Schema.decodeUnknownEffect(StoredIdentity)

/** Fails with why a peer does not start. */
export const refuseStart = (
  code: StartRefused["code"],
  message: string
): Effect.Effect<never, StartRefused> => Effect.fail(new StartRefused({ code, message }))

const readIdentity = Effect.fnUntraced(function* (stored: Uint8Array) {
  return yield* decodeIdentity(new TextDecoder().decode(stored)).pipe(
    Effect.catch((error) =>
      refuseStart("damaged", `the store's identity cannot be read: ${error.message}`)
    )
  )
})

/** Fails, as the life of this store has ended for its cluster. */
export const lifeIsOver = (
  { incarnation, peer }: Identity,
  end: "left" | "ejected"
): Effect.Effect<never, StartRefused> =>
  refuseStart(
    end,
    `${peer}.${incarnation} has ${end === "left" ? "left" : "been ejected from"} the cluster ` +
      (end === "left"
        ? "for good; to take part again it starts on an empty store and joins"
        : "for good; to take part again it reintegrates, or starts on an empty store and joins")
  )

const recover = (settings: PeerSettings, stored: Identity) => {
  if (stored.peer !== settings.peer || stored.cluster !== settings.cluster) {
    const whose = `peer ${stored.peer} of cluster ${stored.cluster}`
    const wanted = `peer ${settings.peer} of cluster ${settings.cluster}`
    return refuseStart("other-peer", `the store is that of ${whose}, not of ${wanted}`)
  }
  if (stored.ended === "ejected" && settings.isReintegrated) return Effect.succeed(stored)
  if (stored.ended !== undefined) return lifeIsOver(stored, stored.ended)
  if (settings.start === "new") {
    return refuseStart("not-empty", "the store is not empty; recover it, or name an empty one")
  }
  return Effect.succeed({ ...stored, boot: stored.boot + 1 })
}

const begin = Effect.fnUntraced(function* (settings: PeerSettings) {
  const store = yield* PartitionStore
  const sizes = yield* store.size
  if (sizes.some(({ partitions }) => partitions > 0)) {
    return yield* refuseStart("not-empty", "the store holds partitions but does not say whose")
  }
  if (settings.start === "recover") {
    return yield* refuseStart("empty", "the store is empty; there is nothing to recover")
  }
  const { cluster, peer } = settings
  return { format: 1 as const, cluster, peer, incarnation: 0, boot: 1 }
})

/** Makes an identity durable. */
export const saveIdentity = Effect.fnUntraced(function* (identity: Identity) {
  const store = yield* PartitionStore
  const value = new TextEncoder().encode(encodeIdentity(identity))
  yield* store.commit({ partitions: [], facts: [{ name: factName, value }] })
  return identity
})

/** Finds or makes the identity, raises the boot number and makes both durable. */
export const establishIdentity = Effect.fnUntraced(function* (
  settings: PeerSettings
): Effect.fn.Return<Identity, StartRefused | PartitionStoreError, PartitionStore> {
  const store = yield* PartitionStore
  const stored = yield* store.fact(factName)
  const identity = Option.isSome(stored)
    ? yield* recover(settings, yield* readIdentity(stored.value))
    : yield* begin(settings)
  return yield* saveIdentity(identity)
})
