import { Result } from "effect"
import { describe, expect, it } from "vitest"
import type { Participant } from "./index.ts"
import {
  adopt,
  disassociate,
  eject,
  ejectionMark,
  forceEject,
  hear,
  infimumParticipants,
  infimumValue,
  makeParticipant,
  merge,
  participate,
  pendingCount,
  undecidedEjections
} from "./index.ts"
import type { Words } from "./testing/replicas.ts"
import { alice, bob, born, carol, dave, erin, saved, wordList, write } from "./testing/replicas.ts"

const put = (state: Words, issuer: Participant, participant: Participant): Words =>
  saved(Result.getOrThrow(eject(wordList, state, { issuer, participant })), issuer)

const told = (local: Words, to: Participant, from: Participant, state: Words) =>
  hear(wordList, local, { from, to, state })

/** `to` hears `from`, and saves. */
const hears = (local: Words, to: Participant, from: Participant, state: Words): Words =>
  saved(Result.getOrThrow(told(local, to, from, state)).state, to)

const wrote = (state: Words, issuer: Participant, word: string): Words =>
  saved(write(state, issuer, word, word), issuer)

const reason = (result: Result.Result<unknown, { readonly _tag: string }>): string =>
  Result.isFailure(result) ? result.failure._tag : "done"

const five = [alice, bob, carol, dave, erin]

describe("peer-T4: both halves eject each other and write", () => {
  const birth = born(five)
  const atAlice = wrote(put(put(birth, alice, dave), alice, erin), alice, "x")
  const atDave = wrote(put(put(birth, dave, alice), dave, bob), dave, "y")

  it("the third ejection of the smaller half is refused: two of five decide nothing", () => {
    const refused = eject(wordList, atDave, { issuer: dave, participant: carol })
    expect(reason(refused)).toBe("AuthorityMissing")
  })

  it("peer-T10: the larger half decides; the smaller one gets its writes back when it heals", () => {
    const atBob = hears(birth, bob, alice, atAlice)
    const atCarol = hears(hears(birth, carol, alice, atAlice), carol, bob, atBob)
    expect(infimumParticipants(atCarol)).toEqual([alice, bob, carol])
    expect(infimumValue(hears(atAlice, alice, carol, atCarol))).toEqual(["x"])
    expect(reason(told(atCarol, carol, dave, atDave))).toBe("SenderRefused")
    const { dropped, state } = Result.getOrThrow(told(atDave, dave, alice, atCarol))
    expect(dropped).toMatchObject([{ _tag: "Eject" }, { _tag: "Eject" }, { request: "y" }])
    expect(pendingCount(state)).toBe(0)
  })
})

it("peer-T5: what the ejected wrote counts if a survivor has it, whoever hears whom first", () => {
  const birth = born([alice, bob, carol])
  const atAlice = hears(birth, alice, carol, wrote(wrote(birth, carol, "e1"), carol, "e2"))
  const atBob = put(birth, bob, carol)
  const first = hears(atAlice, alice, bob, atBob)
  const then = hears(atBob, bob, alice, first)
  const other = hears(atBob, bob, alice, atAlice)
  const last = hears(atAlice, alice, bob, other)
  for (const state of [then, last]) {
    expect(infimumValue(state)).toEqual(["e1", "e2"])
    expect(infimumParticipants(state)).toEqual([alice, bob])
    expect(ejectionMark(state, carol)).toBe(2)
  }
})

it("peer-T7: the ejected comes back as the next incarnation, its old write counts once", () => {
  const birth = born([alice, bob, carol])
  const atAlice = hears(birth, alice, carol, wrote(birth, carol, "old"))
  const atBob = hears(put(birth, bob, carol), bob, alice, atAlice)
  const again = makeParticipant("carol", 1)
  const joined = saved(
    Result.getOrThrow(participate(wordList, atBob, { issuer: bob, participant: again })),
    bob
  )
  const repeated = wrote(saved(joined, again), again, "old")
  const done = hears(hears(atAlice, alice, bob, joined), alice, again, repeated)
  const end = hears(hears(repeated, again, alice, done), again, bob, joined)
  expect(infimumValue(hears(end, again, bob, hears(joined, bob, again, end)))).toEqual(["old"])
  const banned = participate(wordList, joined, { issuer: bob, participant: carol })
  expect(reason(banned)).toBe("EjectedParticipant")
})

describe("what a decision waits for", () => {
  const birth = born(five)

  it("that every survivor has acknowledged what the ejected wrote", () => {
    const atAlice = put(hears(birth, alice, erin, wrote(birth, erin, "e")), alice, erin)
    const atBob = put(birth, bob, erin)
    const others = [carol, dave].map((each) => hears(birth, each, bob, atBob))
    const some = others.reduce(
      (state, other, index) => {
        const from = [carol, dave][index]!
        return hears(state, alice, from, other)
      },
      hears(atAlice, alice, bob, atBob)
    )
    expect(undecidedEjections(some)).toEqual([erin])
    const all = [bob, carol, dave].reduce(
      (state, each) => hears(state, alice, each, hears(birth, each, alice, state)),
      some
    )
    expect(ejectionMark(all, erin)).toBe(1)
  })

  it("that all open ejections can be decided together", () => {
    const atAlice = put(put(birth, alice, erin), alice, dave)
    const onlyErin = put(birth, bob, erin)
    const atBob = hears(birth, bob, alice, put(birth, alice, erin))
    const atCarol = hears(birth, carol, bob, onlyErin)
    const open = hears(hears(atAlice, alice, bob, atBob), alice, carol, atCarol)
    expect(undecidedEjections(open)).toEqual([erin, dave])
  })

  it("that nobody who is out acknowledges, and that a leaver has one mark", () => {
    const out = put(birth, alice, erin)
    expect(saved(hears(birth, erin, alice, out), erin)).toEqual(
      Result.getOrThrow(told(birth, erin, alice, out)).state
    )
    const left = Result.getOrThrow(disassociate(wordList, birth, erin))
    const both = hears(out, alice, bob, Result.getOrThrow(merge(wordList, left, birth)).state)
    expect(undecidedEjections(both)).toEqual([erin])
  })
})

it("a stranger is not heard, nor is one let in by nobody whose Joins count", () => {
  const birth = born([alice, bob, carol])
  expect(reason(told(birth, alice, dave, birth))).toBe("SenderRefused")
  const out = put(birth, alice, carol)
  const joined = participate(wordList, birth, { issuer: carol, participant: dave })
  const orphan = saved(Result.getOrThrow(joined), dave)
  expect(reason(told(out, alice, dave, orphan))).toBe("SenderRefused")
})

describe("an operator forces what nobody can decide", () => {
  const birth = born([alice, bob, carol])
  const atAlice = wrote(birth, alice, "x")
  const atBob = wrote(hears(birth, bob, alice, atAlice), bob, "y")
  const ejected = [carol]
  const forced = forceEject(wordList, atAlice, { issuer: alice, ejected, lineage: 7 })

  it("all that the replica holds is folded, in a new lineage, and the others stay", () => {
    const { state } = Result.getOrThrow(forced)
    expect(infimumValue(state)).toEqual(["x"])
    expect(infimumParticipants(state)).toEqual([alice, bob])
    expect(state.origin.lineage).toBe(7)
    expect(reason(told(state, alice, bob, atBob))).toBe("DifferentLineage")
  })

  it("another goes over to it and gets back what only he held", () => {
    const { dropped, state } = Result.getOrThrow(adopt(atBob, Result.getOrThrow(forced).state))
    expect(dropped).toMatchObject([{ request: "y" }])
    const again = wrote(state, bob, "y")
    const end = hears(Result.getOrThrow(forced).state, alice, bob, again)
    expect(infimumValue(end)).toEqual(["x", "y"])
  })

  it("an ejection that contradicts it is overruled", () => {
    const contradicted = hears(put(birth, alice, bob), alice, carol, put(birth, carol, alice))
    expect(undecidedEjections(contradicted)).toEqual([bob, alice])
    const { state } = Result.getOrThrow(
      forceEject(wordList, contradicted, { issuer: alice, ejected: [bob], lineage: 7 })
    )
    expect(infimumParticipants(state)).toEqual([alice, carol])
    expect(pendingCount(state)).toBe(0)
  })

  it("refused: himself, an old lineage, and to go over where confirmed writes would be lost", () => {
    const force = (command: { ejected: ReadonlyArray<Participant>; lineage: number }) =>
      reason(forceEject(wordList, atAlice, { issuer: alice, ...command }))
    expect(force({ ejected: [alice], lineage: 7 })).toBe("SelfEjection")
    expect(force({ ejected, lineage: 0 })).toBe("LineageNotHigher")
    const confirmed = [alice, bob, carol].reduce(saved, atBob)
    expect(reason(adopt(confirmed, Result.getOrThrow(forced).state))).toBe("HistoryNotContained")
  })
})
