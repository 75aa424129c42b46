/**
 * Finds and mends what two peers hold differently, whatever was lost between them.
 *
 *     sums of shared ranges ──▶ those that differ ──▶ halve (16 parts) ──▶ lists of few partitions
 *                                                                  └─▶ fetch, merge, send back
 *
 * 1. After a round over everything this peer holds all that the other held when it was compared;
 *    after one over births, each partition of his in the birth that is the first of both.
 * 2. A passing round leaves alone what was changed a moment ago, as that is on its way anyway, and
 *    ends early where it finds nothing else.
 * 3. A round costs one message when nothing differs.
 */
import type { KeyRange, PeerId } from "@holdfast/keyspace"
import { KeySet, PartitionKey } from "@holdfast/keyspace"
import {
  type Answer,
  decodeParts,
  makeCaller,
  makeRequestId,
  PeerReplicationOperations,
  ServiceError
} from "@holdfast/wire"
import { Effect, Option, Random, Result } from "effect"
import { addressText } from "./address.ts"
import { isCluster } from "./cluster-partition.ts"
import type { ComparisonScope } from "./completeness.ts"
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
const LIST_MAX = 128
const ANSWER_LIST_MAX = 4_096

const callCompare = makeCaller(PeerReplicationOperations.compare)
const callFetch = makeCaller(PeerReplicationOperations.fetch)

const callOptions = Effect.fnUntraced(function* (context: AntiEntropyContext, peer: PeerId) {
  const { membership, settings, view } = context
  return {
    cluster: settings.cluster,
    instance: peer,
    deadline: settings.times.replicationMillis,
    requestId: yield* makeRequestId,
    sender: view.self.peer,
    epoch: membership.epoch
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
    view.noteAnswer(peer)
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
          sent: { _tag: "State", replica: incoming.success },
          sender: context.membership.participantOf(peer),
          boot: view.bootOf(peer),
          ownership,
          isAnswered: false
        })
        const heard = yield* Effect.result(engine.submit(address, body))
        if (Result.isFailure(heard)) {
          context.missed(peer)
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

/** A comparison with one peer. */
interface Round {
  readonly peer: PeerId
  readonly application: string
  readonly scope: ComparisonScope
}

/** Deals with a range that the other has listed; says how much of it was busy. */
const mendRange = Effect.fnUntraced(function* (
  context: AntiEntropyContext,
  round: Round,
  range: KeyRange,
  theirs: ReadonlyArray<{ readonly key: string; readonly digest: string }>
) {
  const { application, peer, scope } = round
  const { engine, inventory, settings } = context
  const busySince = (yield* monotonicMillis) - settings.times.resendMillis
  const mine = new Map<string, string>()
  for (const { digest, key } of yield* inventory.list(application, range)) mine.set(key, digest)
  const wanted: Array<PartitionKey> = []
  let busy = 0
  const isBusy = (key: PartitionKey): boolean => {
    const resident = scope === "passing" ? engine.table.find({ application, key }) : undefined
    if (resident === undefined || resident.usedAt < busySince) return false
    busy += 1
    return true
  }
  const isKnownBirth = (key: PartitionKey): boolean =>
    scope === "births" &&
    mine.has(key) &&
    !inventory.provisional.has(addressText({ application, key }))
  for (const { digest, key: text } of theirs) {
    const key = PartitionKey.make(text)
    if (mine.get(key) !== digest && !isKnownBirth(key) && !isBusy(key)) wanted.push(key)
    mine.delete(key)
  }
  for (const text of mine.keys()) {
    const key = PartitionKey.make(text)
    if (!isBusy(key)) context.offer(peer, { application, key })
  }
  yield* pull(context, peer, application, wanted)
  return busy
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

/** Busy partitions after which a passing round ends. */
const BUSY_MAX = 64

/** The ranges in another order, so that passing rounds end at another place each time. */
const rotated = Effect.fnUntraced(function* (ranges: ReadonlyArray<KeyRange>) {
  const start = yield* Random.nextIntBetween(0, Math.max(1, ranges.length))
  return [...ranges.slice(start), ...ranges.slice(0, start)]
})

/** Compares and mends one application with one peer. */
const syncApplication = Effect.fnUntraced(function* (context: AntiEntropyContext, round: Round) {
  const { application, peer, scope } = round
  const { membership, view } = context
  const shared = isCluster(application)
    ? KeySet.full
    : KeySet.intersection(membership.keysHeldBy(view.self.peer), membership.keysHeldBy(peer))
  let waiting: ReadonlyArray<KeyRange> = shared
  let busy = 0
  const busyMax = scope === "passing" ? BUSY_MAX : Infinity
  while (waiting.length > 0 && busy <= busyMax) {
    const asked = waiting.slice(0, RANGES_MAX)
    const ranges = yield* Effect.forEach(asked, (range) => digestOf(context, application, range))
    const { response } = yield* callCompare({
      ...(yield* callOptions(context, peer)),
      request: { application, sender: view.self, ranges }
    })
    view.noteAnswer(peer)
    const smaller: Array<KeyRange> = []
    for (const { partitions, range } of response.differing) {
      if (partitions === undefined) smaller.push(...splitRange(asRange(range), PARTS))
      else busy += yield* mendRange(context, round, asRange(range), partitions)
    }
    waiting = [...waiting.slice(RANGES_MAX), ...(yield* rotated(smaller))]
  }
})

/** One round with one peer, over all applications. */
export const syncWith = (context: AntiEntropyContext, peer: PeerId, scope: ComparisonScope) =>
  Effect.forEach(
    context.applications.keys(),
    (application) => syncApplication(context, { application, peer, scope }),
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
