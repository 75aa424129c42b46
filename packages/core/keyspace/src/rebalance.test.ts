import { Result } from "effect"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import {
  distribute,
  invariants,
  KEY_SPACE_SIZE,
  KeySet,
  keysOwnedBy,
  loadOfPeers,
  MembersRefused,
  movedKeys,
  movements,
  PeerId,
  rebalance
} from "./index.ts"
import type { Distribution, Member } from "./index.ts"

const member = (number: number, weight = 1): Member => ({ peer: PeerId.make(`p${number}`), weight })
const fresh = (members: ReadonlyArray<Member>): Distribution =>
  Result.getOrThrow(distribute({ members, epoch: 1 }))
const next = (current: Distribution, members: ReadonlyArray<Member>): Distribution =>
  Result.getOrThrow(rebalance({ current, members, epoch: current.epoch + 1 }))
const moved = (from: Distribution, to: Distribution): bigint => movedKeys(movements({ from, to }))
const loadOf = (distribution: Distribution, peer: PeerId): bigint =>
  loadOfPeers(distribution).get(peer) ?? 0n

/** How far the loads are from those of a fresh distribution, in parts of 10,000 of these. */
const worstDeviation = (distribution: Distribution, members: ReadonlyArray<Member>): number => {
  const fair = fresh(members)
  const deviations = members.map(({ peer }) => {
    const wanted = loadOf(fair, peer)
    const off = loadOf(distribution, peer) - wanted
    return Number(((off < 0n ? -off : off) * 10_000n) / wanted)
  })
  return Math.max(...deviations)
}

/** Members come and go: `true` joins the next one, a number lets one of those present leave. */
const anyHistory = fc.array(fc.oneof(fc.constant(true as const), fc.nat({ max: 11 })), {
  maxLength: 14
})

const afterStep = (
  members: ReadonlyArray<Member>,
  step: true | number,
  joining: Member
): ReadonlyArray<Member> =>
  step === true || members.length < 2
    ? [...members, joining]
    : members.filter((_, index) => index !== step % members.length)

describe("rebalance", () => {
  it("peer-P7: with equal weights a join moves its quota, an ejection what was lost", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 9 }), anyHistory, (count, history) => {
        let members: ReadonlyArray<Member> = Array.from({ length: count }, (_, n) => member(n))
        let current = fresh(members)
        for (const [index, step] of history.entries()) {
          const before = current
          const after = afterStep(members, step, member(100 + index))
          current = next(before, after)
          expect(invariants(current)).toEqual([])
          const joined = after.find(({ peer }) => !members.some((other) => other.peer === peer))
          const left = members.find(({ peer }) => !after.some((other) => other.peer === peer))
          if (joined !== undefined)
            expect(moved(before, current)).toBe(loadOf(current, joined.peer))
          if (left !== undefined) {
            const lost = after.length < 3 ? 0n : loadOf(before, left.peer)
            expect(moved(before, current)).toBe(lost)
          }
          current = next(current, after)
          members = after
          expect(worstDeviation(current, members)).toBeLessThanOrEqual(10)
        }
      })
    )
  })

  it("peer-P7: whatever the weights, it covers every key, comes near the quotas and settles", () => {
    const anyWeight = fc.integer({ min: 1, max: 5 })
    fc.assert(
      fc.property(
        fc.array(anyWeight, { minLength: 1, maxLength: 9 }),
        anyHistory,
        fc.infiniteStream(anyWeight),
        (weights, history, later) => {
          let members: ReadonlyArray<Member> = weights.map((weight, n) => member(n, weight))
          let current = fresh(members)
          for (const [index, step] of history.entries()) {
            members = afterStep(members, step, member(100 + index, later.next().value ?? 1))
            const restored = next(current, members)
            current = next(restored, members)
            expect(invariants(restored)).toEqual([])
            expect(invariants(current)).toEqual([])
            // One 1,024th is a little under 10 in 10,000.
            expect(worstDeviation(current, members)).toBeLessThanOrEqual(10)
            expect(next(current, members).segments).toEqual(current.segments)
          }
        }
      )
    )
  })

  it("peer-T3: ends after five joins and an ejection, with every key three times", () => {
    let members: ReadonlyArray<Member> = [member(0)]
    let current = fresh(members)
    for (const step of [true, true, true, true, 2] as const) {
      members = afterStep(members, step, member(members.length))
      current = next(current, members)
    }
    expect(invariants(current)).toEqual([])
    expect(next(next(current, members), members).segments).toEqual(next(current, members).segments)
    expect(current.segments.every(({ owners }) => owners.length === 3)).toBe(true)
  })

  it("peer-B37: of five members two may leave at once; only what they held is copied", () => {
    const members = [0, 1, 2, 3, 4].map((number) => member(number))
    const current = fresh(members)
    const gone = [members[1], members[3]].map((left) => left?.peer ?? PeerId.make("none"))
    const rest = members.filter(({ peer }) => !gone.includes(peer))
    const restored = next(current, rest)
    expect(moved(current, restored)).toBe(gone.reduce((sum, p) => sum + loadOf(current, p), 0n))
    expect(invariants(restored)).toEqual([])
  })

  it("raises and lowers the replication factor", () => {
    const members = [0, 1, 2, 3, 4, 5].map((number) => member(number))
    const current = fresh(members)
    const change = (from: Distribution, factor: number) =>
      Result.getOrThrow(rebalance({ current: from, members, factor, epoch: from.epoch + 1 }))
    const more = change(current, 5)
    expect(more.segments.every(({ owners }) => owners.length === 5)).toBe(true)
    expect(moved(current, more)).toBe(2n * KEY_SPACE_SIZE)
    const less = change(more, 2)
    expect(less.segments.every(({ owners }) => owners.length === 2)).toBe(true)
    expect(invariants(less)).toEqual([])
  })

  it("gives the copies that were lost to other zones where it can", () => {
    const zoned = (name: string): Member => ({ peer: PeerId.make(name), zone: name.charAt(0) })
    const members = ["a1", "a2", "b1", "b2", "c1", "c2", "d1", "d2"].map(zoned)
    const restored = next(
      fresh(members),
      members.filter(({ peer }) => peer !== "b2")
    )
    for (const { owners } of restored.segments) {
      expect(new Set(owners.map((owner) => owner.charAt(0))).size).toBe(3)
    }
  })

  it("does not grow without end: fragments are used up", () => {
    let members: ReadonlyArray<Member> = Array.from({ length: 12 }, (_, n) => member(n))
    let current = fresh(members)
    for (let round = 0; round < 100; round++) {
      members = afterStep(members, round % 2 === 0 ? (round * 7) % 12 : true, member(100 + round))
      current = next(next(current, members), members)
    }
    expect(current.segments.length).toBeLessThanOrEqual(400)
  })

  it("refuses an epoch that does not rise, and bad members", () => {
    const current = fresh([member(0)])
    const stale = rebalance({ current, members: [member(0)], epoch: 1 })
    const twice = rebalance({ current, members: [member(0), member(0)], epoch: 2 })
    for (const refused of [stale, twice]) {
      expect(Result.getOrThrow(Result.flip(refused))).toBeInstanceOf(MembersRefused)
    }
  })

  it("starts anew where nobody of the present owners is left", () => {
    const members = [7, 8, 9].map((number) => member(number))
    expect(next(fresh([member(0)]), members).segments).toEqual(fresh(members).segments)
    expect(next(fresh([]), members).segments).toEqual(fresh(members).segments)
  })
})

describe("movements", () => {
  it("are what turns the keys of each peer into the next ones", () => {
    const from = fresh([0, 1, 2, 3].map((number) => member(number)))
    const to = next(
      from,
      [0, 1, 2, 3, 4].map((number) => member(number))
    )
    for (const { gains, losses, peer } of movements({ from, to })) {
      const kept = KeySet.difference(keysOwnedBy(from, peer), losses)
      expect(KeySet.union(kept, gains)).toEqual(keysOwnedBy(to, peer))
    }
    expect(movements({ from, to: from })).toEqual([])
  })
})
