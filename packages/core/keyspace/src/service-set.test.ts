import { Result } from "effect"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import {
  distribute,
  keyFromBigInt,
  KEY_SPACE_SIZE,
  KeySet,
  keysOwnedBy,
  nextReplica,
  PeerId,
  serviceSet
} from "./index.ts"
import type { Assignment, ServiceSetOptions } from "./index.ts"

const peers = Array.from({ length: 9 }, (_, index) => PeerId.make(`p${index}`))
const distributionOf = (count: number) =>
  Result.getOrThrow(
    distribute({ members: peers.slice(0, count).map((peer) => ({ peer })), epoch: 1 })
  )

/** Sets whose edges fall on sixteenths of the key space. */
const anySet = fc
  .array(fc.tuple(fc.integer({ min: 0, max: 15 }), fc.integer({ min: 0, max: 15 })), {
    maxLength: 4
  })
  .map((pairs) =>
    KeySet.fromRanges(
      pairs.map(([a, b]) => {
        const sixteenth = KEY_SPACE_SIZE / 16n
        const low = BigInt(Math.min(a, b)) * sixteenth
        const high = BigInt(Math.max(a, b) + 1) * sixteenth - 1n
        return [keyFromBigInt(low), keyFromBigInt(high)] as const
      })
    )
  )

const anyOptions: fc.Arbitrary<ServiceSetOptions> = fc
  .record({
    count: fc.integer({ min: 1, max: 9 }),
    live: fc.subarray(peers),
    random: fc.integer(),
    wanted: fc.option(anySet, { nil: undefined }),
    complete: fc.array(fc.tuple(fc.constantFrom(...peers), anySet), { maxLength: 3 })
  })
  .map(({ complete, count, live, random, wanted }) => ({
    distribution: distributionOf(count),
    live: new Set(live),
    random,
    complete: new Map(complete),
    ...(wanted === undefined ? {} : { wanted })
  }))

const answerable = (options: ServiceSetOptions, peer: PeerId): KeySet =>
  KeySet.intersection(
    options.live.has(peer) ? keysOwnedBy(options.distribution, peer) : KeySet.empty,
    options.complete?.get(peer) ?? KeySet.full
  )

const sizeOf = (assignments: ReadonlyArray<Assignment>): bigint =>
  assignments.reduce((sum, { keys }) => sum + KeySet.size(keys), 0n)

describe("serviceSet", () => {
  it("asks for every wanted key exactly once, or names it as missing", () => {
    fc.assert(
      fc.property(anyOptions, (options) => {
        const wanted = options.wanted ?? KeySet.full
        const { assignments, missing } = serviceSet(options)
        const asked = KeySet.unions(assignments.map(({ keys }) => keys))
        expect(KeySet.union(asked, missing)).toEqual(wanted)
        expect(sizeOf(assignments) + KeySet.size(missing)).toBe(KeySet.size(wanted))
        expect(new Set(assignments.map(({ peer }) => peer)).size).toBe(assignments.length)
        for (const { keys, peer } of assignments) {
          expect(KeySet.isEmpty(keys)).toBe(false)
          expect(KeySet.difference(keys, answerable(options, peer))).toEqual(KeySet.empty)
        }
      })
    )
  })

  it("misses exactly what no live peer may answer for", () => {
    fc.assert(
      fc.property(anyOptions, (options) => {
        const held = KeySet.unions(peers.map((peer) => answerable(options, peer)))
        const wanted = options.wanted ?? KeySet.full
        expect(serviceSet(options).missing).toEqual(KeySet.difference(wanted, held))
      })
    )
  })

  it("asks one peer of three that hold everything, each of them in its turn", () => {
    const distribution = distributionOf(3)
    const live = new Set(peers.slice(0, 3))
    const asked = Array.from({ length: 64 }, (_, random) =>
      serviceSet({ distribution, live, random })
    )
    expect(asked.every(({ assignments }) => assignments.length === 1)).toBe(true)
    expect(new Set(asked.map(({ assignments }) => assignments[0]!.peer)).size).toBe(3)
  })

  it("asks few of nine: at least three must be, and never more than five are", () => {
    const distribution = distributionOf(9)
    for (let random = 0; random < 50; random++) {
      const { assignments } = serviceSet({ distribution, live: new Set(peers), random })
      expect(assignments.length).toBeGreaterThanOrEqual(3)
      expect(assignments.length).toBeLessThanOrEqual(5)
    }
  })

  it("chooses the same set for the same number", () => {
    fc.assert(
      fc.property(anyOptions, (options) => {
        expect(serviceSet(options)).toEqual(serviceSet(options))
      })
    )
  })

  it("peer-B10: does not ask a returning peer for keys it has not caught up on", () => {
    const distribution = distributionOf(3)
    const [a, b] = peers
    const live = new Set([a!, b!])
    const complete = new Map([[b!, KeySet.empty]])
    for (let random = 0; random < 16; random++) {
      const { assignments, missing } = serviceSet({ distribution, live, random, complete })
      expect(assignments).toEqual([{ peer: a, keys: KeySet.full }])
      expect(missing).toEqual(KeySet.empty)
    }
  })
})

describe("nextReplica", () => {
  it("hedges to replicas that were not tried, until there are none", () => {
    fc.assert(
      fc.property(anyOptions, (options) => {
        const tried = new Set<PeerId>()
        let wanted = options.wanted ?? KeySet.full
        for (let round = 0; round < 4 && !KeySet.isEmpty(wanted); round++) {
          const { assignments, missing } = nextReplica({ ...options, wanted, tried })
          expect(assignments.some(({ peer }) => tried.has(peer))).toBe(false)
          const asked = KeySet.unions(assignments.map(({ keys }) => keys))
          expect(KeySet.union(asked, missing)).toEqual(wanted)
          for (const { peer } of assignments) tried.add(peer)
          wanted = asked
        }
      })
    )
  })
})
