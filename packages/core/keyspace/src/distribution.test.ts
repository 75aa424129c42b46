import { Result, Schema } from "effect"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import {
  distribute,
  Distribution,
  invariants,
  KEY_SPACE_SIZE,
  keyFromBigInt,
  KeySet,
  keysOwnedBy,
  loadOfPeers,
  MAX_KEY,
  MembersRefused,
  MIN_KEY,
  ownersOf,
  PeerId,
  segmentOf
} from "./index.ts"
import type { Member } from "./index.ts"

const peer = (name: string): PeerId => PeerId.make(name)
const membersOf = (count: number): ReadonlyArray<Member> =>
  Array.from({ length: count }, (_, index) => ({ peer: peer(`p${index}`) }))
const anyKey = fc.bigInt({ min: 0n, max: KEY_SPACE_SIZE - 1n }).map(keyFromBigInt)

/** Up to twelve members, some heavy, some in one of three zones. */
const anyMembers = fc
  .uniqueArray(fc.integer({ min: 0, max: 99 }), { minLength: 1, maxLength: 12 })
  .chain((numbers) =>
    fc.tuple(
      ...numbers.map((number) =>
        fc
          .record({
            weight: fc.option(fc.integer({ min: 1, max: 9 }), { nil: undefined }),
            zone: fc.option(fc.constantFrom("x", "y", "z"), { nil: undefined })
          })
          .map(({ weight, zone }): Member => ({
            peer: peer(`p${number}`),
            ...(weight === undefined ? {} : { weight }),
            ...(zone === undefined ? {} : { zone })
          }))
      )
    )
  )
const anyFactor = fc.integer({ min: 1, max: 5 })

describe("distribute", () => {
  it("peer-P7: every key is in one segment with min(factor, n) owners; neighbours differ", () => {
    fc.assert(
      fc.property(anyMembers, anyFactor, anyKey, (members, factor, key) => {
        const distribution = Result.getOrThrow(distribute({ members, factor, epoch: 7 }))
        expect(invariants(distribution)).toEqual([])
        expect(distribution.segments.length).toBeLessThanOrEqual(members.length + 1)
        const holding = distribution.segments.filter(({ from, to }) => from <= key && key <= to)
        expect(holding).toEqual([segmentOf(distribution, key)])
        expect(new Set(ownersOf(distribution, key)).size).toBe(Math.min(factor, members.length))
      })
    )
  })

  it("loads each member within one key of its quota", () => {
    fc.assert(
      fc.property(anyMembers, anyFactor, (members, factor) => {
        const distribution = Result.getOrThrow(distribute({ members, factor, epoch: 0 }))
        const loads = loadOfPeers(distribution)
        const total = members.reduce((sum, { weight = 1 }) => sum + BigInt(weight), 0n)
        const copies = BigInt(Math.min(factor, members.length))
        let sum = 0n
        for (const { peer: id, weight = 1 } of members) {
          const load = loads.get(id) ?? 0n
          sum += load
          const fair = (BigInt(weight) * copies * KEY_SPACE_SIZE) / total
          const isCapped = load === KEY_SPACE_SIZE
          expect(isCapped || load + 1n >= fair, `${id}: ${load} of ${fair}`).toBe(true)
          expect(load).toBe(KeySet.size(keysOwnedBy(distribution, id)))
        }
        expect(sum).toBe(copies * KEY_SPACE_SIZE)
      })
    )
  })

  it("gives equal members equal loads, within one key", () => {
    for (const count of [1, 2, 3, 4, 5, 7, 12, 50]) {
      const distribution = Result.getOrThrow(distribute({ members: membersOf(count), epoch: 0 }))
      const loads = [...loadOfPeers(distribution).values()]
      const least = loads.reduce((a, b) => (a < b ? a : b))
      const most = loads.reduce((a, b) => (a > b ? a : b))
      expect(loads.length).toBe(count)
      expect(most - least <= 1n, `${count} members`).toBe(true)
    }
  })

  it("does not depend on the order of the members", () => {
    fc.assert(
      fc.property(
        anyMembers.chain((members) =>
          fc.tuple(
            fc.constant(members),
            fc.shuffledSubarray([...members], { minLength: members.length })
          )
        ),
        ([members, shuffled]) => {
          expect(distribute({ members: shuffled, epoch: 1 })).toEqual(
            distribute({ members, epoch: 1 })
          )
        }
      )
    )
  })

  it("keeps replicas out of one zone while the zones' weights allow it", () => {
    const members = ["a1", "a2", "b1", "b2", "b3", "c1"].map((name): Member => {
      const zone = name.charAt(0)
      const weight = { a: 3, b: 2, c: 6 }[zone] ?? 1
      return { peer: peer(name), zone, weight }
    })
    const distribution = Result.getOrThrow(distribute({ members, epoch: 0 }))
    for (const { owners } of distribution.segments) {
      expect(owners.map((owner) => owner.charAt(0)).toSorted()).toEqual(["a", "b", "c"])
    }
  })

  it("owns everything alone, or nothing with nobody", () => {
    const alone = Result.getOrThrow(distribute({ members: membersOf(1), epoch: 0 }))
    expect(alone.segments).toEqual([{ from: MIN_KEY, to: MAX_KEY, owners: ["p0"] }])
    const nobody = Result.getOrThrow(distribute({ members: [], epoch: 0 }))
    expect(nobody.segments).toEqual([{ from: MIN_KEY, to: MAX_KEY, owners: [] }])
    expect(invariants(nobody)).toEqual([])
  })

  const refused: ReadonlyArray<readonly [why: string, options: Parameters<typeof distribute>[0]]> =
    [
      ["a duplicate", { members: [...membersOf(2), { peer: peer("p1") }], epoch: 0 }],
      ["weight 0", { members: [{ peer: peer("a"), weight: 0 }], epoch: 0 }],
      ["weight 1.5", { members: [{ peer: peer("a"), weight: 1.5 }], epoch: 0 }],
      ["a weight above the most", { members: [{ peer: peer("a"), weight: 1_000_001 }], epoch: 0 }],
      ["factor 0", { members: membersOf(1), factor: 0, epoch: 0 }],
      ["factor 16", { members: membersOf(1), factor: 16, epoch: 0 }],
      ["too many members", { members: membersOf(4097), epoch: 0 }]
    ]
  for (const [why, options] of refused) {
    it(`refuses ${why}`, () => {
      const error = Result.getOrThrow(Result.flip(distribute(options)))
      expect(error).toBeInstanceOf(MembersRefused)
    })
  }
})

describe("the codec of a distribution", () => {
  const good = Result.getOrThrow(distribute({ members: membersOf(5), epoch: 3 }))

  it("goes to JSON and back", () => {
    const wire: unknown = JSON.parse(JSON.stringify(Schema.encodeSync(Distribution)(good)))
    expect(Schema.decodeUnknownSync(Distribution)(wire)).toEqual(good)
  })

  const [first, second, ...others] = good.segments
  const damaged: ReadonlyArray<readonly [what: string, segments: ReadonlyArray<unknown>]> = [
    ["a gap", [first, ...others]],
    ["an overlap", [first, first, second, ...others]],
    ["no end", good.segments.slice(0, -1)],
    ["nothing", []],
    ["an owner twice", [{ ...first, owners: ["p0", "p0", "p1"] }, second, ...others]],
    ["an owner too few", [{ ...first, owners: ["p0", "p1"] }, second, ...others]],
    ["neighbours alike", [{ ...first, owners: second!.owners }, second, ...others]]
  ]
  for (const [what, segments] of damaged) {
    it(`refuses ${what}`, () => {
      const decoded = Schema.decodeUnknownResult(Distribution)({ ...good, segments })
      expect(Result.isFailure(decoded)).toBe(true)
    })
  }
})
