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
 * 3. What cannot be read, or belongs to an application that is not hosted, stops it: it is for a
 *    person to say that it may be lost.
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

const stays = (what: string) =>
  refuseStart("damaged", `${what}; to go without it, start on an empty store and join`)

/** Hands one partition to an owner; tries again until the deadline of a join. */
const handOver = Effect.fnUntraced(function* (
  { cluster, times }: PeerSettings,
  { incarnation, peer }: Identity,
  { application, key }: Address,
  replica: Replica
): Effect.fn.Return<number, StartRefused, Messaging> {
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
    if (Result.isSuccess(answer)) return answer.success.response.submitted
    const { failure } = answer
    if (isFinal(failure) || (yield* monotonicMillis) + PAUSE_MILLIS > until) {
      return yield* stays(`${application}/${key} cannot be handed over: ${failure.message}`)
    }
    yield* Effect.sleep(PAUSE_MILLIS)
  }
})

/** Everything that is in the store, read; refused where it cannot be. */
const read = Effect.fnUntraced(function* (
  { decode, name }: HostedApplication,
  page: ReadonlyArray<StoredPartition>
): Effect.fn.Return<ReadonlyArray<readonly [PartitionKey, Replica]>, StartRefused> {
  const replicas: Array<readonly [PartitionKey, Replica]> = []
  for (const stored of page) {
    const replica = stored._tag === "Intact" ? decode(stored.state) : undefined
    if (replica === undefined || Result.isFailure(replica)) {
      return yield* stays(`${name}/${stored.key} of the ejected peer cannot be read`)
    }
    replicas.push([PartitionKey.make(stored.key), replica.success])
  }
  return replicas
})

/** Deletes what was handed over. */
const deletePage = Effect.fnUntraced(function* (
  application: string,
  page: ReadonlyArray<Pick<StoredPartition, "key">>
) {
  const store = yield* PartitionStore
  const state = Option.none<Uint8Array>()
  const partitions = page.map(({ key }) => ({ application, key, state, tags: [] }))
  yield* store.commit({ partitions, facts: [] })
})

/** Hands over what an application has in the store; how many requests were submitted again. */
const handOverAll = Effect.fnUntraced(function* (
  settings: PeerSettings,
  identity: Identity,
  hosted: HostedApplication
): Effect.fn.Return<number, StartRefused | PartitionStoreError, Messaging | PartitionStore> {
  const application = hosted.name
  let submitted = 0
  yield* forEachPage({ application }, (page) =>
    Effect.gen(function* () {
      // Also those with nothing pending: their history may be nobody else's.
      const counts = yield* Effect.forEach(
        yield* read(hosted, page),
        ([key, replica]) => handOver(settings, identity, { application, key }, replica),
        { concurrency: IN_FLIGHT }
      )
      submitted += counts.reduce((sum, count) => sum + count, 0)
      yield* deletePage(application, page)
    })
  )
  return submitted
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
  const stored = (yield* store.size).filter(({ partitions }) => partitions > 0)
  for (const { application } of stored) {
    if (isCluster(application) || hosted.has(application)) continue
    return yield* stays(`the store has partitions of ${application}, which is not hosted now`)
  }
  let submitted = 0
  for (const application of settings.applications) {
    submitted += yield* handOverAll(settings, ejected, application)
  }
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
