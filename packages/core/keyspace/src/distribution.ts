/**
 * The distribution: which peers hold which keys.
 *
 *   0                                                                   2^256 - 1
 *   |---- a b c ----|-------- b c d --------|------ a c d ------|--- a b d ----|
 *
 * 1. The segments ascend and cover the whole key space without a gap or an overlap.
 * 2. Each segment has the same number of distinct owners: `min(factor, members)`.
 * 3. Segments next to each other have different lists of owners.
 * 4. `distribute` depends on its arguments alone, not on the order of the members; each member's
 *    load is within one key of its quota (see `quota.ts`).
 * 5. Members of one zone share a key only if the zone's quotas exceed the key space, and then
 *    exactly the excess.
 *
 * `distribute` lays the quotas end to end on a line as long as the key space times the number of
 * copies, and folds the line at every multiple of the key space: McNaughton's wrap-around rule
 * ("Scheduling with deadlines and loss functions", 1959). As no quota is longer than the key
 * space, nobody meets himself in a fold; as zones stand together, they meet themselves least.
 */
import { Result, Schema } from "effect"
import { MembersRefused } from "./errors.ts"
import { KeySet } from "./key-set.ts"
import type { KeyRange } from "./key-set.ts"
import { FACTOR_DEFAULT, FACTOR_MAX, MEMBERS_MAX, PeerId, WEIGHT_MAX } from "./member.ts"
import type { Member } from "./member.ts"
import {
  KEY_SPACE_SIZE,
  keyFromBigInt,
  keyToBigInt,
  MAX_KEY,
  MIN_KEY,
  nextKey,
  PartitionKey
} from "./partition-key.ts"
import { quotas } from "./quota.ts"

/** A range of keys, both ends included, and its owners in order. */
export const Segment = Schema.Struct({
  from: PartitionKey,
  to: PartitionKey,
  owners: Schema.Array(PeerId)
})
/** A range of keys, both ends included, and its owners in order. */
export type Segment = typeof Segment.Type

/** Something that a distribution must never be, in words. */
export interface Violation {
  readonly invariant: string
  readonly detail: string
}

interface Body {
  readonly epoch: number
  readonly factor: number
  readonly segments: ReadonlyArray<Segment>
}

const segmentViolations = (
  segment: Segment,
  before: Segment | undefined
): ReadonlyArray<Violation> => {
  const found: Array<Violation> = []
  const expected = before === undefined ? MIN_KEY : nextKey(before.to)
  if (segment.from !== expected || segment.to < segment.from) {
    found.push({ invariant: "coverage", detail: `segment from ${segment.from} to ${segment.to}` })
  }
  if (new Set(segment.owners).size !== segment.owners.length) {
    found.push({ invariant: "distinct owners", detail: segment.owners.join(", ") })
  }
  if (before !== undefined && sameOwners(before.owners, segment.owners)) {
    found.push({ invariant: "merged neighbours", detail: `two segments at ${segment.from}` })
  }
  return found
}

/** Everything about a distribution that breaks the invariants above; empty when all is well. */
export const invariants = (distribution: Body): ReadonlyArray<Violation> => {
  const { factor, segments } = distribution
  const found = segments.flatMap((segment, index) =>
    segmentViolations(segment, segments[index - 1])
  )
  if (segments.at(-1)?.to !== MAX_KEY) {
    found.push({ invariant: "coverage", detail: "the last segment does not end at the last key" })
  }
  const peers = new Set(segments.flatMap((segment) => segment.owners))
  for (const { from, owners } of segments) {
    if (owners.length !== Math.min(factor, peers.size)) {
      found.push({ invariant: "owner count", detail: `${owners.length} owners at ${from}` })
    }
  }
  return found
}

/** Which peers hold which keys, at one epoch; the codec refuses what breaks an invariant. */
export const Distribution = Schema.Struct({
  version: Schema.Literal(1),
  epoch: Schema.Natural,
  factor: Schema.Int.pipe(Schema.check(Schema.isBetween({ minimum: 1, maximum: FACTOR_MAX }))),
  segments: Schema.Array(Segment)
}).pipe(
  Schema.check(
    Schema.makeFilter((distribution: Body) => {
      const first = invariants(distribution)[0]
      return first === undefined ? undefined : `${first.invariant}: ${first.detail}`
    })
  )
)
/** Which peers hold which keys, at one epoch. */
export type Distribution = typeof Distribution.Type

const sameOwners = (a: ReadonlyArray<PeerId>, b: ReadonlyArray<PeerId>): boolean =>
  a.length === b.length && a.every((peer, index) => peer === b[index])

/** Joins neighbours with equal owners; the segments come in order and touch. */
export const mergeSegments = (segments: Iterable<Segment>): ReadonlyArray<Segment> => {
  const merged: Array<Segment> = []
  for (const segment of segments) {
    const last = merged.at(-1)
    if (last === undefined || !sameOwners(last.owners, segment.owners)) merged.push(segment)
    else merged[merged.length - 1] = { ...last, to: segment.to }
  }
  return merged
}

const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/** Checks a list of members and puts it in its one order: by zone, then by name. */
export const orderMembers = (
  members: ReadonlyArray<Member>
): Result.Result<ReadonlyArray<Member>, MembersRefused> => {
  const refuse = (message: string) => Result.fail(new MembersRefused({ message }))
  if (members.length > MEMBERS_MAX) {
    return refuse(`${members.length} members are too many: at most ${MEMBERS_MAX} are possible.`)
  }
  const names = new Set<string>()
  for (const { peer, weight = 1 } of members) {
    if (names.has(peer)) return refuse(`Peer ${peer} is named twice; name each peer once.`)
    names.add(peer)
    if (!Number.isInteger(weight) || weight < 1 || weight > WEIGHT_MAX) {
      return refuse(
        `Peer ${peer} has weight ${weight}; a whole number 1 to ${WEIGHT_MAX} is right.`
      )
    }
  }
  return Result.succeed(
    [...members].sort(
      (a, b) => compareText(a.zone ?? "", b.zone ?? "") || compareText(a.peer, b.peer)
    )
  )
}

/** The pieces that the quotas fall into when the line is folded, row by row. */
const foldQuotas = (
  ordered: ReadonlyArray<Member>,
  shares: ReadonlyArray<bigint>
): {
  readonly rows: ReadonlyArray<ReadonlyArray<bigint>>
  readonly cuts: ReadonlyArray<bigint>
} => {
  const rows: Array<Array<bigint>> = []
  const cuts = new Set<bigint>([0n])
  let end = 0n
  for (const [index] of ordered.entries()) {
    end += shares[index]!
    rows.push([end - shares[index]!, end])
    cuts.add(end % KEY_SPACE_SIZE)
  }
  return { rows, cuts: [...cuts].sort((a, b) => (a < b ? -1 : 1)) }
}

const rotate = <A>(items: ReadonlyArray<A>, by: number): ReadonlyArray<A> =>
  items.length === 0
    ? items
    : [...items.slice(by % items.length), ...items.slice(0, by % items.length)]

/** One moving finger per copy of the key space finds the owners of each cut in linear time. */
const ownersAtCuts = (
  ordered: ReadonlyArray<Member>,
  shares: ReadonlyArray<bigint>,
  copies: number
): ReadonlyArray<Segment> => {
  const { rows, cuts } = foldQuotas(ordered, shares)
  const fingers = Array.from({ length: copies }, (_, copy) =>
    rows.findIndex(([, end]) => end! > BigInt(copy) * KEY_SPACE_SIZE)
  )
  const segments = cuts.map((from, index): Segment => {
    const owners = fingers.map((finger, copy) => {
      const at = BigInt(copy) * KEY_SPACE_SIZE + from
      let holder = finger
      while (rows[holder]![1]! <= at) holder++
      fingers[copy] = holder
      return ordered[holder]!.peer
    })
    const to = (cuts[index + 1] ?? KEY_SPACE_SIZE) - 1n
    return { from: keyFromBigInt(from), to: keyFromBigInt(to), owners }
  })
  return segments
}

/**
 * Distributes the key space over members, each key to `min(factor, members)` of them; with no
 * members at all to nobody. Costs `O(n log n)`; gives at most one segment more than members.
 */
export const distribute = (options: {
  readonly members: ReadonlyArray<Member>
  readonly factor?: number
  readonly epoch: number
}): Result.Result<Distribution, MembersRefused> => {
  const { epoch, factor = FACTOR_DEFAULT, members } = options
  if (!Number.isInteger(factor) || factor < 1 || factor > FACTOR_MAX) {
    const message = `Replication factor ${factor} is not possible; 1 to ${FACTOR_MAX} is right.`
    return Result.fail(new MembersRefused({ message }))
  }
  return Result.map(orderMembers(members), (ordered): Distribution => {
    const shares = quotas(
      ordered.map(({ weight = 1 }) => BigInt(weight)),
      factor
    )
    const folded = ownersAtCuts(ordered, shares, Math.min(factor, ordered.length))
    const segments = mergeSegments(folded).map((segment, index) => ({
      ...segment,
      owners: rotate(segment.owners, index)
    }))
    return { version: 1, epoch, factor, segments: mergeSegments(segments) }
  })
}

/** The segment that holds a key; logarithmic in the segments. */
export const segmentOf = (distribution: Distribution, key: PartitionKey): Segment => {
  const { segments } = distribution
  let low = 0
  let high = segments.length - 1
  while (low < high) {
    const middle = (low + high + 1) >>> 1
    if (segments[middle]!.from <= key) low = middle
    else high = middle - 1
  }
  const segment = segments[low]
  if (segment === undefined) throw new Error("a distribution covers the whole key space")
  return segment
}

/** The owners of a key, in the segment's order; nobody when the distribution has no members. */
export const ownersOf = (distribution: Distribution, key: PartitionKey): ReadonlyArray<PeerId> =>
  segmentOf(distribution, key).owners

/** The keys that a peer owns; none for a peer that the distribution does not know. */
export const keysOwnedBy = (distribution: Distribution, peer: PeerId): KeySet =>
  KeySet.fromRanges(
    distribution.segments
      .filter(({ owners }) => owners.includes(peer))
      .map(({ from, to }): KeyRange => [from, to])
  )

/** How many keys each peer owns; linear in the segments. */
export const loadOfPeers = (distribution: Distribution): ReadonlyMap<PeerId, bigint> => {
  const loads = new Map<PeerId, bigint>()
  for (const { from, owners, to } of distribution.segments) {
    const keys = keyToBigInt(to) - keyToBigInt(from) + 1n
    for (const peer of owners) loads.set(peer, (loads.get(peer) ?? 0n) + keys)
  }
  return loads
}
