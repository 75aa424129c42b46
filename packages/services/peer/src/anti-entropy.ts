/**
 * Finds and mends what two peers hold differently, whatever was lost between them.
 *
 *     sums of shared ranges ──▶ those that differ ──▶ halve (16 parts) ──▶ lists of few partitions
 *                                                                  └─▶ fetch, merge, send back
 *
 * 1. After a round this peer holds all that the other held when it was compared.
 * 2. A round costs one message when nothing differs.
 */
import type { KeyRange, PeerId } from "@holdfast/keyspace"
import { keysOwnedBy, KeySet, PartitionKey } from "@holdfast/keyspace"
import {
  type Answer,
  decodeParts,
  makeCaller,
  makeRequestId,
  PeerReplicationOperations,
  ServiceError
} from "@holdfast/wire"
import { Effect, Option, Result } from "effect"
import { splitRange, sumText } from "./digest-buckets.ts"
import type { Inventory } from "./inventory.ts"
import { monotonicMillis } from "./monotonic.ts"
import { noSuchApplication, storageRefusal } from "./refusals.ts"
import { hearState } from "./replication-steps.ts"
import type { SenderContext } from "./sender.ts"

/** What anti-entropy needs. */
export interface AntiEntropyContext extends SenderContext {
  readonly inventory: Inventory
  readonly offer: (peer: PeerId, address: { application: string; key: PartitionKey }) => void
}

const PARTS = 16
const RANGES_MAX = 64
const LIST_MAX = 512
const ANSWER_LIST_MAX = 4_096

const callCompare = makeCaller(PeerReplicationOperations.compare)
const callFetch = makeCaller(PeerReplicationOperations.fetch)

const callOptions = Effect.fnUntraced(function* (context: AntiEntropyContext, peer: PeerId) {
  const { settings, view } = context
  return {
    cluster: settings.cluster,
    instance: peer,
    deadline: settings.times.replicationMillis,
    requestId: yield* makeRequestId,
    sender: view.self.peer,
    epoch: settings.distribution.epoch
  }
})

/** Fetches partitions and merges them; what the other lacks is put in his outbox. */
const pull = Effect.fnUntraced(function* (
  context: AntiEntropyContext,
  peer: PeerId,
  application: string,
  keys: ReadonlyArray<PartitionKey>
) {
  const { engine, ownership, view } = context
  const { replicationItemsMax } = PeerReplicationOperations
  for (let from = 0; from < keys.length;) {
    const wanted = keys.slice(from, from + replicationItemsMax)
    const { attachment, response } = yield* callFetch({
      ...(yield* callOptions(context, peer)),
      request: { sender: view.self, application, keys: wanted }
    })
    if (response.seen === 0) {
      const message = `${application}/${wanted[0]} of ${peer} does not fit into a message`
      return yield* new ServiceError({ code: "too-large", message })
    }
    from += response.seen
    const states = Option.getOrElse(decodeParts(attachment), () => [])
    yield* Effect.forEach(
      response.found,
      Effect.fnUntraced(function* (found, index) {
        const incoming = context.applications
          .get(application)
          ?.decode(states[index] ?? new Uint8Array())
        if (incoming === undefined || Result.isFailure(incoming)) {
          return yield* context.warn("a fetched state cannot be read", { application, found })
        }
        const address = { application, key: PartitionKey.make(found) }
        const body = hearState({
          address,
          incoming: incoming.success,
          sender: peer,
          ownership,
          isAnswered: false
        })
        const heard = yield* Effect.result(engine.submit(address, body))
        if (Result.isFailure(heard)) {
          return yield* context.warn("a fetched state is refused", {
            ...address,
            why: heard.failure
          })
        }
        if (heard.success.replica.digest() !== incoming.success.digest()) {
          context.offer(peer, address)
        }
      }),
      { concurrency: "unbounded", discard: true }
    )
  }
})

/** Deals with a range that the other has listed. */
const mendRange = Effect.fnUntraced(function* (
  context: AntiEntropyContext,
  peer: PeerId,
  application: string,
  range: KeyRange,
  theirs: ReadonlyArray<{ readonly key: string; readonly digest: string }>
) {
  const { engine, inventory, settings } = context
  const busySince = (yield* monotonicMillis) - settings.times.resendMillis
  const mine = new Map<string, string>()
  for (const { digest, key } of yield* inventory.list(application, range)) mine.set(key, digest)
  const wanted: Array<PartitionKey> = []
  for (const { digest, key } of theirs) {
    if (mine.get(key) !== digest) wanted.push(PartitionKey.make(key))
    mine.delete(key)
  }
  for (const key of mine.keys()) {
    const address = { application, key: PartitionKey.make(key) }
    const resident = engine.table.find(address)
    if (resident === undefined || resident.usedAt < busySince) context.offer(peer, address)
  }
  yield* pull(context, peer, application, wanted)
})

const digestOf = (context: AntiEntropyContext, application: string, range: KeyRange) =>
  Effect.map(context.inventory.sum(application, range), (sum) => ({
    range,
    count: sum.count,
    digest: sumText(sum)
  }))

const asRange = ([from, to]: readonly [string, string]): KeyRange => [
  PartitionKey.make(from),
  PartitionKey.make(to)
]

/** Compares and mends one application with one peer. */
const syncApplication = Effect.fnUntraced(function* (
  context: AntiEntropyContext,
  peer: PeerId,
  application: string
) {
  const { settings, view } = context
  const own = keysOwnedBy(settings.distribution, view.self.peer)
  const shared = KeySet.intersection(own, keysOwnedBy(settings.distribution, peer))
  let waiting: ReadonlyArray<KeyRange> = shared
  while (waiting.length > 0) {
    const asked = waiting.slice(0, RANGES_MAX)
    const ranges = yield* Effect.forEach(asked, (range) => digestOf(context, application, range))
    const { response } = yield* callCompare({
      ...(yield* callOptions(context, peer)),
      request: { application, sender: view.self, ranges }
    })
    const smaller: Array<KeyRange> = []
    for (const { partitions, range } of response.differing) {
      if (partitions === undefined) smaller.push(...splitRange(asRange(range), PARTS))
      else yield* mendRange(context, peer, application, asRange(range), partitions)
    }
    waiting = [...waiting.slice(RANGES_MAX), ...smaller]
  }
})

/** One round with one peer, over all applications. */
export const syncWith = (context: AntiEntropyContext, peer: PeerId) =>
  Effect.forEach(
    context.applications.keys(),
    (application) => syncApplication(context, peer, application),
    { discard: true }
  )

/** Answers `compare`. */
export const handleCompare =
  (context: AntiEntropyContext) =>
  (request: {
    readonly application: string
    readonly sender: PeerReplicationOperations.PeerSender
    readonly ranges: ReadonlyArray<PeerReplicationOperations.RangeDigest>
  }): Effect.Effect<
    Answer<{ readonly differing: ReadonlyArray<PeerReplicationOperations.DifferingRange> }>,
    ServiceError
  > =>
    Effect.gen(function* () {
      const refusal = context.view.hear(request.sender)
      if (refusal !== null) return yield* refusal
      const { application } = request
      if (!context.applications.has(application)) return yield* noSuchApplication(application)
      const differing: Array<PeerReplicationOperations.DifferingRange> = []
      let room = ANSWER_LIST_MAX
      for (const theirs of request.ranges) {
        const range = asRange(theirs.range)
        const sum = yield* context.inventory.sum(application, range)
        if (sum.count === theirs.count && sumText(sum) === theirs.digest) continue
        const isSmall = sum.count <= LIST_MAX || splitRange(range, PARTS).length === 1
        const isListed = isSmall && (sum.count <= room || room === ANSWER_LIST_MAX)
        if (!isListed) {
          differing.push({ range })
          continue
        }
        const partitions = yield* context.inventory.list(application, range)
        room -= partitions.length
        differing.push({ range, partitions })
      }
      return { response: { differing } }
    }).pipe(Effect.catchTag("PartitionStoreError", (error) => Effect.fail(storageRefusal(error))))
