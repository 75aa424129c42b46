/**
 * How a peer comes to its cluster: it finds it in its store, founds it with the others that are
 * told the same, or asks a member to be taken in.
 *
 *     store holds the cluster ──▶ go on from it
 *     a founder, empty store  ──▶ a member answers? join ──▶ else the birth that all founders make
 *     anybody else            ──▶ join ──▶ any member records it and answers with the state
 *                                    └─ "that life is over": begin the next one, ask again
 *
 * 1. The cluster's state, with this peer in it, is durable before anything else is said to others.
 * 2. A join may be asked for again and again: it names the life that asks, and counts once.
 * 3. Who is taken in is waited for by all from then on; so the wait for an answer has a deadline.
 */
import type { ClusterState } from "@holdfast/cluster"
import type { Messaging } from "@holdfast/messaging"
import { PartitionStore, type PartitionStoreError } from "@holdfast/storage"
import {
  type CallError,
  makeCaller,
  makeRequestId,
  PeerMembershipOperations,
  ServiceError
} from "@holdfast/wire"
import { Effect, Option, Result } from "effect"
import { birthOfCluster, clusterAddress } from "./cluster-partition.ts"
import { type Identity, refuseStart, saveIdentity, type StartRefused } from "./identity.ts"
import { monotonicMillis } from "./monotonic.ts"
import type { HostedApplication, Replica } from "./replica.ts"
import type { PeerSettings } from "./settings.ts"

/** Who the peer is now, and the cluster as it holds it. */
export interface Admitted {
  readonly identity: Identity
  readonly replica: Replica
}

/** What entering a cluster needs. */
export interface AdmissionContext {
  readonly settings: PeerSettings
  readonly hosted: HostedApplication
  readonly founded: ClusterState
}

const callJoin = makeCaller(PeerMembershipOperations.join)
const ATTEMPT_MILLIS = 2_000
const PAUSE_MILLIS = 250
/** Lives that are tried in one start; each is over only if the name came back in between. */
const LIVES_MAX = 8

const save = Effect.fnUntraced(function* (replica: Replica) {
  const store = yield* PartitionStore
  const state = Option.some(replica.bytes())
  yield* store.commit({ partitions: [{ ...clusterAddress, state, tags: [] }], facts: [] })
  return replica
})

/** The cluster in the store; none if it holds none. */
const stored = Effect.fnUntraced(function* ({ hosted }: AdmissionContext) {
  const store = yield* PartitionStore
  const found = Option.getOrNull(yield* store.load(clusterAddress))
  if (found === null) return null
  const replica = found._tag === "Intact" ? hosted.decode(found.state) : undefined
  return replica !== undefined && Result.isSuccess(replica)
    ? replica.success
    : yield* refuseStart(
        "damaged",
        "the store's cluster state cannot be read; eject this peer and let it join anew"
      )
})

/** What a member answered. */
type JoinReply =
  | { readonly _tag: "Welcome"; readonly state: Uint8Array }
  | { readonly _tag: "LaterLife"; readonly incarnation: number }

const askOnce = Effect.fnUntraced(function* (
  { settings }: AdmissionContext,
  identity: Identity
): Effect.fn.Return<JoinReply, CallError | ServiceError, Messaging> {
  const { boot, incarnation, peer } = identity
  const { attachment, response } = yield* callJoin({
    cluster: settings.cluster,
    deadline: ATTEMPT_MILLIS,
    requestId: yield* makeRequestId,
    sender: peer,
    request: { sender: { peer, incarnation, boot }, ...settings.capacity }
  })
  return response.incarnation === undefined
    ? { _tag: "Welcome", state: attachment }
    : { _tag: "LaterLife", incarnation: response.incarnation }
})

/** Whether a member says that the life of this store is over; false where nobody says so. */
export const isLifeOver = Effect.fnUntraced(function* (
  context: AdmissionContext,
  identity: Identity
): Effect.fn.Return<boolean, never, Messaging> {
  const reply = yield* Effect.result(askOnce(context, identity))
  return Result.isSuccess(reply) && reply.success._tag === "LaterLife"
})

/** Refusals that no patience changes. */
const FINAL = new Set(["other-life", "names-full", "not-a-member", "store-lost"])

const notTakenIn = (identity: Identity, failure: CallError | ServiceError) => {
  const isLost = failure instanceof ServiceError && failure.code === "store-lost"
  const why = `no member of cluster ${identity.cluster} takes ${identity.peer} in: `
  return refuseStart(isLost ? "store-lost" : "not-a-member", why + failure.message)
}

/** Asks until a member answers, or the deadline is over. */
const ask = Effect.fnUntraced(function* (context: AdmissionContext, identity: Identity) {
  const { joinMillis } = context.settings.times
  const until = (yield* monotonicMillis) + joinMillis
  for (;;) {
    const reply = yield* Effect.result(askOnce(context, identity))
    if (Result.isSuccess(reply)) return reply.success
    const { failure } = reply
    const isFinal = failure instanceof ServiceError && FINAL.has(failure.code)
    if (isFinal || (yield* monotonicMillis) + PAUSE_MILLIS > until) {
      return yield* notTakenIn(identity, failure)
    }
    yield* Effect.sleep(PAUSE_MILLIS)
  }
})

const welcome = Effect.fnUntraced(function* (
  { hosted }: AdmissionContext,
  { incarnation, peer }: Identity,
  state: Uint8Array
) {
  const replica = Result.flatMap(hosted.decode(state), (incoming) =>
    incoming.acknowledge({ peer, incarnation })
  )
  return Result.isSuccess(replica)
    ? yield* save(replica.success)
    : yield* refuseStart("not-a-member", `the answer to the join: ${replica.failure.message}`)
})

const joinCluster = Effect.fnUntraced(function* (
  context: AdmissionContext,
  first: Identity
): Effect.fn.Return<Admitted, StartRefused | PartitionStoreError, Messaging | PartitionStore> {
  let identity = first
  for (let life = 0; life < LIVES_MAX; life += 1) {
    const reply = yield* ask(context, identity)
    if (reply._tag === "Welcome") {
      return { identity, replica: yield* welcome(context, identity, reply.state) }
    }
    identity = yield* saveIdentity({ ...identity, incarnation: reply.incarnation })
  }
  return yield* refuseStart("not-a-member", `each of ${LIVES_MAX} lives of ${first.peer} was over`)
})

/**
 * A founder finds out whether the cluster is there already: its own store may have been lost, or
 * others may have founded it without this peer. Nobody answers when all begin together.
 */
const foundCluster = Effect.fnUntraced(function* (
  context: AdmissionContext,
  identity: Identity
): Effect.fn.Return<Admitted, StartRefused | PartitionStoreError, Messaging | PartitionStore> {
  const reply = yield* Effect.result(askOnce(context, identity))
  if (Result.isSuccess(reply)) return yield* joinCluster(context, identity)
  const { failure } = reply
  if (failure instanceof ServiceError && FINAL.has(failure.code)) {
    return yield* notTakenIn(identity, failure)
  }
  return { identity, replica: yield* save(birthOfCluster(context.hosted, context.founded)) }
})

/** Finds, founds or joins the cluster. */
export const enterCluster = Effect.fnUntraced(function* (
  context: AdmissionContext,
  identity: Identity
): Effect.fn.Return<Admitted, StartRefused | PartitionStoreError, Messaging | PartitionStore> {
  const known = yield* stored(context)
  if (known !== null) return { identity, replica: known }
  const isFounder = context.founded.members.some(({ peer }) => peer === identity.peer)
  if (isFounder && identity.incarnation === 0) {
    return yield* foundCluster(context, identity)
  }
  return yield* joinCluster(context, identity)
})
