/**
 * Brings back a peer that was ejected, with its store.
 *
 *     ejected ──▶ page after page: each partition is handed to an owner, who submits again what
 *                   │              does not count; then the page is deleted
 *                   └─▶ nothing is left ──▶ the next life begins, and joins
 *
 * 1. Nothing is deleted before a majority of owners holds all that only this store had of it.
 * 2. A start that ends in the middle is repeated with what is left. A page that was handed over and
 *    not deleted is handed over again: its requests count once by their ids, as those of any client
 *    that repeats itself.
 * 3. What cannot be read, belongs to an application that is not hosted, or is taken by nobody is
 *    kept, when all else is handed over: it is for a person to say that it may be lost.
 */
import { PartitionKey } from "@holdfast/keyspace"
import type { Messaging } from "@holdfast/messaging"
import { PartitionStore, type PartitionStoreError, type StoredPartition } from "@holdfast/storage"
import {
  type CallError,
  makeCaller,
  makeRequestId,
  PeerMembershipOperations,
  ServiceError
} from "@holdfast/wire"
import { Effect, Option, Result } from "effect"
import type { Address } from "./address.ts"
import { type AdmissionContext, isLifeOver } from "./admission.ts"
import { clusterAddress, isCluster } from "./cluster-partition.ts"
import { type Identity, refuseStart, saveIdentity, type StartRefused } from "./identity.ts"
import { monotonicMillis } from "./monotonic.ts"
import type { HostedApplication, Replica } from "./replica.ts"
import type { PeerSettings } from "./settings.ts"
import { forEachPage } from "./stored-pages.ts"

const PAUSE_MILLIS = 250
const IN_FLIGHT = 16
const callReclaim = makeCaller(PeerMembershipOperations.reclaim)

/** Refusals that no patience changes. */
const FINAL = new Set(["no-such-application", "undecodable", "history-unknown", "invalid-request"])

const isFinal = (error: CallError): boolean =>
  error instanceof ServiceError && FINAL.has(error.code)

const tryAgain = (what: string) =>
  refuseStart("not-handed-over", `${what}; start again when peers that own it can be reached`)

const isKept = (what: string) =>
  refuseStart("kept", `${what}; to go without it, start on an empty store and join`)

/** What became of a partition: so many requests were submitted again, or why it is kept. */
type HandedOver = Result.Result<number, string>

/** Hands one partition to an owner; tries again until the deadline of a join. */
const handOver = Effect.fnUntraced(function* (
  { cluster, times }: PeerSettings,
  { incarnation, peer }: Identity,
  { application, key }: Address,
  replica: Replica
): Effect.fn.Return<HandedOver, StartRefused, Messaging> {
  const until = (yield* monotonicMillis) + times.joinMillis
  const requestId = yield* makeRequestId
  for (;;) {
    const answer = yield* Effect.result(
      callReclaim({
        cluster,
        request: { life: { peer, incarnation }, application, key },
        attachment: replica.bytes(),
        deadline: times.requestMillis,
        requestId,
        sender: peer
      })
    )
    if (Result.isSuccess(answer)) return Result.succeed(answer.success.response.submitted)
    const { failure } = answer
    const why = `${application}/${key} cannot be handed over: ${failure.message}`
    if (isFinal(failure)) return Result.fail(why)
    if ((yield* monotonicMillis) + PAUSE_MILLIS > until) return yield* tryAgain(why)
    yield* Effect.sleep(PAUSE_MILLIS)
  }
})

/** Hands one stored partition over, if it can be read. */
const handOverStored = Effect.fnUntraced(function* (
  settings: PeerSettings,
  identity: Identity,
  { decode, name }: HostedApplication,
  stored: StoredPartition
): Effect.fn.Return<HandedOver, StartRefused, Messaging> {
  const replica = stored._tag === "Intact" ? decode(stored.state) : undefined
  if (replica === undefined || Result.isFailure(replica)) {
    return Result.fail(`${name}/${stored.key} of the ejected peer cannot be read`)
  }
  const address = { application: name, key: PartitionKey.make(stored.key) }
  return yield* handOver(settings, identity, address, replica.success)
})

/** Deletes what was handed over. */
const deletePage = Effect.fnUntraced(function* (
  application: string,
  page: ReadonlyArray<Pick<StoredPartition, "key">>
) {
  if (page.length === 0) return
  const store = yield* PartitionStore
  const state = Option.none<Uint8Array>()
  const partitions = page.map(({ key }) => ({ application, key, state, tags: [] }))
  yield* store.commit({ partitions, facts: [] })
})

/** What became of a store. */
interface Emptied {
  readonly submitted: number
  /** Why partitions are kept: the first reason of each application, and how many there are. */
  readonly kept: ReadonlyArray<string>
}

/** Hands over what an application has in the store, and keeps what nobody takes. */
const handOverAll = Effect.fnUntraced(function* (
  settings: PeerSettings,
  identity: Identity,
  hosted: HostedApplication
): Effect.fn.Return<Emptied, StartRefused | PartitionStoreError, Messaging | PartitionStore> {
  const application = hosted.name
  let submitted = 0
  let keptCount = 0
  let firstKept = ""
  yield* forEachPage({ application }, (page) =>
    Effect.gen(function* () {
      // Also those with nothing pending: their history may be nobody else's.
      const handedOver = yield* Effect.forEach(
        page,
        (stored) =>
          Effect.map(handOverStored(settings, identity, hosted, stored), (outcome) => ({
            key: stored.key,
            outcome
          })),
        { concurrency: IN_FLIGHT }
      )
      for (const { outcome } of handedOver) {
        if (Result.isSuccess(outcome)) {
          submitted += outcome.success
        } else {
          if (keptCount === 0) firstKept = outcome.failure
          keptCount += 1
        }
      }
      yield* deletePage(
        application,
        handedOver.filter(({ outcome }) => Result.isSuccess(outcome))
      )
    })
  )
  const more = keptCount > 1 ? `, and ${keptCount - 1} more of ${application} like it` : ""
  return { submitted, kept: keptCount === 0 ? [] : [firstKept + more] }
})

/** Whether the life of the store is over: it says so itself, or a member does. */
const isOver = (context: AdmissionContext, identity: Identity) =>
  identity.ended === undefined ? isLifeOver(context, identity) : Effect.succeed(true)

/**
 * Where the life of the store is over, hands over what only it holds, empties it, and begins the
 * next life of the peer; the same life goes on where it is not.
 */
export const reintegrate = Effect.fnUntraced(function* (
  context: AdmissionContext,
  identity: Identity
): Effect.fn.Return<Identity, StartRefused | PartitionStoreError, Messaging | PartitionStore> {
  const store = yield* PartitionStore
  const isNew = Option.isNone(yield* store.load(clusterAddress)) && identity.ended === undefined
  if (isNew || !(yield* isOver(context, identity))) return identity
  return yield* beginNextLife(
    context.settings,
    yield* saveIdentity({ ...identity, ended: "ejected" })
  )
})

const beginNextLife = Effect.fnUntraced(function* (
  settings: PeerSettings,
  ejected: Identity
): Effect.fn.Return<Identity, StartRefused | PartitionStoreError, Messaging | PartitionStore> {
  const store = yield* PartitionStore
  const hosted = new Set(settings.applications.map(({ name }) => name))
  let submitted = 0
  const kept: Array<string> = []
  for (const application of settings.applications) {
    const emptied = yield* handOverAll(settings, ejected, application)
    submitted += emptied.submitted
    kept.push(...emptied.kept)
  }
  for (const { application, partitions } of yield* store.size) {
    if (partitions === 0 || isCluster(application) || hosted.has(application)) continue
    kept.push(`the store has partitions of ${application}, which is not hosted now`)
  }
  if (kept.length > 0) return yield* isKept(kept.join("; "))
  yield* Effect.logInfo("what only the ejected peer held was submitted again", {
    peer: ejected.peer,
    requests: submitted
  })
  const { boot, cluster, format, incarnation, peer } = ejected
  yield* deletePage(clusterAddress.application, [{ key: clusterAddress.key }])
  return yield* saveIdentity({
    format,
    cluster,
    peer,
    incarnation: incarnation + 1,
    boot: boot + 1
  })
})
