import { Result } from "effect"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import {
  create,
  disassociate,
  divergent,
  infimumId,
  infimumParticipants,
  merge,
  participate,
  pendingCount,
  projectedParticipants,
  projectedValue,
  stateHash
} from "./index.ts"
import { Cluster, commandOf } from "./testing/history.ts"
import type { Words } from "./testing/replicas.ts"
import {
  alice,
  bob,
  born,
  carol,
  dave,
  heard,
  origin,
  saved,
  wordList,
  write
} from "./testing/replicas.ts"

const merged = (left: Words, right: Words): Words =>
  Result.getOrThrow(merge(wordList, left, right)).state

const observed = (state: Words) => ({
  value: projectedValue(state),
  participants: projectedParticipants(state),
  infimum: infimumId(state),
  divergent: divergent(state),
  hash: stateHash(state)
})

const command = fc.tuple(fc.nat(), fc.nat({ max: 1000 }), fc.nat({ max: 1000 })).map(commandOf)
const states = fc.array(command, { minLength: 5, maxLength: 60 }).map((commands) => {
  const cluster = new Cluster(["a", "b", "c"])
  for (const each of commands) cluster.run(each)
  return [...cluster.replicas.values(), ...cluster.network.map((each) => each.state)]
})

describe("peer-P1: merge, on all that can be observed, of any states of one history", () => {
  it("is commutative", () => {
    fc.assert(
      fc.property(states, fc.nat(), fc.nat(), (all, left, right) => {
        const [a, b] = [all[left % all.length]!, all[right % all.length]!]
        expect(observed(merged(a, b))).toEqual(observed(merged(b, a)))
      }),
      { numRuns: 200 }
    )
  })

  it("is associative", () => {
    fc.assert(
      fc.property(states, fc.nat(), fc.nat(), fc.nat(), (all, one, two, three) => {
        const [a, b, c] = [one, two, three].map((at) => all[at % all.length]!) as [
          Words,
          Words,
          Words
        ]
        expect(observed(merged(merged(a, b), c))).toEqual(observed(merged(a, merged(b, c))))
      }),
      { numRuns: 200 }
    )
  })

  it("is idempotent, and gives back the very same state when nothing is new", () => {
    fc.assert(
      fc.property(states, fc.nat(), fc.nat(), (all, left, right) => {
        const [a, b] = [all[left % all.length]!, all[right % all.length]!]
        const once = merged(a, b)
        expect(merged(once, b)).toBe(once)
        expect(merged(once, a)).toBe(once)
      }),
      { numRuns: 200 }
    )
  })
})

describe("what a merge refuses", () => {
  const failure = (left: Words, right: Words) => {
    const result = merge(wordList, left, right)
    return Result.isFailure(result) ? result.failure._tag : "merged"
  }
  const bornOf = (change: Partial<typeof origin>) =>
    create(wordList, { origin: { ...origin, ...change }, participants: [alice] })

  it.each([
    ["another key", bornOf({ key: "other" }), "DifferentOrigins"],
    ["another birth epoch", bornOf({ epoch: 1 }), "DifferentOrigins"],
    ["another lineage", bornOf({ lineage: 1 }), "DifferentLineage"],
    ["other founders", born([alice, bob]), "InfimumDigestMismatch"],
    ["another request window", born([alice], { requestWindow: 7 }), "InfimumDigestMismatch"],
    ["the same birth", born([alice]), "merged"]
  ])("%s", (_, other, expected) => {
    expect(failure(born([alice]), other)).toBe(expected)
  })

  it("peer-T14: one id with two bodies is a conflict, whichever side comes first", () => {
    const common = born([alice, bob])
    const [left, right] = [write(common, alice, "x"), write(common, alice, "y")]
    expect(failure(left, right)).toBe("ConflictingEvent")
    expect(failure(right, left)).toBe("ConflictingEvent")
  })

  it("peer-B46: two ways to one id are told apart, whichever side comes first", () => {
    const common = born([alice, bob])
    const done = (state: Words) => saved(saved(state, alice), bob)
    const left = done(write(write(common, bob, "x"), alice, "y"))
    const right = done(write(write(common, alice, "x"), alice, "y"))
    expect(infimumId(left)).toEqual(infimumId(right))
    expect(failure(left, right)).toBe("InfimumDigestMismatch")
    expect(failure(right, left)).toBe("InfimumDigestMismatch")
  })
})

describe("renegades are returned, not dropped", () => {
  it("a writer who takes no part", () => {
    const stranger = born([alice, bob, dave])
    const forged = write(stranger, dave, "x")
    const incoming: Words = { ...born([alice, bob]), entries: forged.entries }
    const result = Result.getOrThrow(merge(wordList, born([alice, bob]), incoming))
    expect(result.renegades).toMatchObject([{ event: "x", issuer: dave }])
    expect(pendingCount(result.state)).toBe(0)
  })

  it("a writer who left, above his Leave", () => {
    const common = saved(write(born([alice, bob]), bob, "x"), bob)
    const left = Result.getOrThrow(disassociate(wordList, common, bob))
    const disobedient = write(write(common, bob, "y"), bob, "z")
    const { renegades, state } = Result.getOrThrow(
      merge(wordList, heard(born([alice, bob]), alice, left), {
        ...disobedient,
        entries: { ...disobedient.entries, start: 2 }
      })
    )
    expect(renegades).toMatchObject([{ event: "z" }])
    expect(projectedValue(state)).toEqual(["x"])
  })
})

describe("joins and leaves", () => {
  it("a Leave in the same batch as its Join makes nobody's event renegade", () => {
    const joined = saved(
      Result.getOrThrow(
        participate(wordList, born([alice, bob]), { issuer: alice, participant: carol })
      ),
      alice
    )
    const wrote = saved(write(joined, carol, "x"), carol)
    const left = Result.getOrThrow(disassociate(wordList, wrote, carol))
    const result = Result.getOrThrow(merge(wordList, born([alice, bob]), left))
    expect(result.renegades).toEqual([])
    const all = heard(heard(joined, alice, saved(result.state, bob)), bob, left)
    expect(infimumParticipants(all)).toEqual([alice, bob])
    expect(projectedValue(all)).toEqual(["x"])
    expect(pendingCount(all)).toBe(0)
  })

  it("peer-T39: a leaver acknowledges his own Leave with it, the others are divergent", () => {
    const start = saved(write(born([alice, bob]), alice, "x"), alice)
    const left = Result.getOrThrow(disassociate(wordList, start, alice))
    expect(divergent(left).map((each) => each.participant)).toEqual([bob])
    const gone = heard(born([alice, bob]), bob, left)
    expect(divergent(gone)).toEqual([])
    expect(infimumParticipants(gone)).toEqual([bob])
  })

  it("the last one cannot leave, and nobody joins twice", () => {
    const solo = born([alice])
    const refused = disassociate(wordList, solo, alice)
    expect(Result.isFailure(refused) && refused.failure._tag).toBe("LastParticipant")
    const again = participate(wordList, solo, { issuer: alice, participant: alice })
    expect(Result.getOrThrow(again)).toBe(solo)
  })
})
