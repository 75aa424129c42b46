/** The rules of a cluster's state, each by an example, and its invariants over random histories. */
import { KeySet, keysOwnedBy, movedKeys, movements, KEY_SPACE_SIZE } from "@holdfast/keyspace"
import * as fc from "fast-check"
import { Option, Schema } from "effect"
import { describe, expect, it } from "vitest"
import {
  applyEvent,
  type ClusterEvent,
  ClusterState,
  gainersOf,
  gainsOf,
  holdersOf,
  invariants,
  isSwept,
  nextPlan
} from "./index.ts"
import {
  accept,
  founded,
  happening,
  joined,
  lifeOf,
  outputOf,
  ownMove,
  peerOf,
  settle,
  swept
} from "./testing/history.ts"

const planOf = (state: ClusterState): ClusterEvent =>
  Option.getOrThrowWith(nextPlan(state), () => new Error("nothing is planned"))

describe("a cluster", () => {
  it("peer-P7: each history keeps the invariants and comes to rest with every key on three or all", () => {
    const step = fc.tuple(fc.nat(8), fc.nat(6))
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 5 }),
        fc.array(step, { maxLength: 60 }),
        (count, steps) => {
          let state = founded(count)
          for (const one of steps) {
            state = applyEvent(happening(state, one), state).state
            expect(invariants(state)).toEqual([])
          }
          const settled = settle(state, (each) => expect(invariants(each)).toEqual([]))
          const active = settled.members.length
          for (const { owners } of settled.current.segments) {
            expect(owners).toHaveLength(Math.min(3, active))
          }
          expect(settled.members.every(({ phase }) => phase === "active")).toBe(true)
        }
      ),
      { numRuns: 300 }
    )
  })

  it("a repeated event changes nothing", () => {
    const step = fc.tuple(fc.nat(8), fc.nat(6))
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        let state = founded(3)
        for (const one of steps) {
          const event = happening(state, one)
          state = applyEvent(event, state).state
          expect(applyEvent(event, state).state).toBe(state)
        }
      })
    )
  })

  it("peer-P7: a join moves the newcomer's share and nothing else", () => {
    const before = founded(5)
    const after = settle(accept(before, joined(before, 5)))
    const moved = movedKeys(movements({ from: before.current, to: after.current }))
    const share = (3n * KEY_SPACE_SIZE) / 6n
    expect(moved - share < share / 10n && share - moved < share / 10n).toBe(true)
    expect(after.current.epoch).toBe(1)
  })

  it("peer-P7: an ejection moves only what was lost before it evens", () => {
    const before = founded(5)
    const ejected = accept(before, { _tag: "Ejected", ...lifeOf(before, peerOf(2)) })
    const plan = planOf(ejected)
    if (plan._tag !== "Planned") throw new Error("a plan is planned")
    const lost = KeySet.size(keysOwnedBy(before.current, peerOf(2)))
    expect(movedKeys(movements({ from: before.current, to: plan.target }))).toBe(lost)
  })

  it("peer-T1: an ejection ends the step that only the dead could finish", () => {
    const settled = founded(3)
    let state = accept(settled, joined(settled, 3))
    state = accept(state, planOf(state))
    expect(gainersOf(state, state.step ?? never())).toEqual([peerOf(3)])
    state = accept(state, { _tag: "Ejected", ...lifeOf(state, peerOf(3)) })
    expect(state.step).toBeNull()
    state = settle(accept(state, joined(state, 4)))
    expect(state.members.map(({ peer }) => peer)).toEqual([0, 1, 2, 4].map(peerOf))
    expect(state.current.segments.every(({ owners }) => owners.length === 3)).toBe(true)
  })

  it("peer-T3: join four times and eject one: the plans come to an end", () => {
    let state = founded(1)
    for (const n of [1, 2, 3, 4]) state = settle(accept(state, joined(state, n)))
    state = settle(accept(state, { _tag: "Ejected", ...lifeOf(state, peerOf(1)) }))
    expect(Option.isNone(ownMove(state))).toBe(true)
    expect(state.ordinal).toBeLessThanOrEqual(4 * 5)
  })

  it("peer-B40: who gains says it once or often, for this step or an earlier one", () => {
    let state = accept(founded(3), joined(founded(3), 3))
    const plan = planOf(state)
    state = accept(state, plan)
    const gained = { _tag: "Gained", ...lifeOf(state, peerOf(3)), ordinal: 1 } as const
    expect(gainsOf(state, peerOf(3))).not.toEqual(KeySet.empty)
    state = accept(state, gained)
    expect(state.step).toBeNull()
    expect(outputOf(state, gained)).toMatchObject({ reason: "other-plan" })
    expect(outputOf(state, plan)).toMatchObject({ reason: "other-plan" })
  })

  it("peer-T2: two plans at once: the second is refused, whatever it wants", () => {
    const state = accept(founded(4), joined(founded(4), 4))
    const plan = planOf(state)
    const planned = accept(state, plan)
    expect(outputOf(planned, plan)).toMatchObject({ reason: "other-plan" })
    const later = accept(state, joined(state, 5))
    expect(outputOf(later, plan)).toMatchObject({ reason: "other-plan" })
  })

  it("while keys move both who has them and who will are told of changes", () => {
    let state = accept(founded(3), joined(founded(3), 3))
    const [[from] = never()] = gainsOf((state = accept(state, planOf(state))), peerOf(3))
    expect([...holdersOf(state, from)].sort()).toEqual([0, 1, 2, 3].map(peerOf))
  })

  it("peer-T12: a distribution begins a sweep, which is done when every member has swept", () => {
    let state = accept(founded(3), joined(founded(3), 3))
    expect(isSwept(state)).toBe(true)
    state = accept(state, planOf(state))
    state = accept(state, { _tag: "Gained", ...lifeOf(state, peerOf(3)), ordinal: 1 })
    expect(state.sweep).toEqual({ round: 1, missing: [0, 1, 2, 3].map(peerOf) })
    const early = { ...swept(state, peerOf(0)), round: 0 } as ClusterEvent
    expect(outputOf(state, early)).toMatchObject({ reason: "other-round" })
    expect(outputOf(state, swept(state, peerOf(4)))).toMatchObject({ reason: "not-a-member" })
    // A newcomer holds nothing yet, and is not waited for.
    state = accept(state, joined(state, 4))
    for (const n of [0, 1, 2]) state = accept(state, swept(state, peerOf(n)))
    expect(isSwept(state)).toBe(false)
    expect(outputOf(state, swept(state, peerOf(2)))).toEqual({ _tag: "Unchanged" })
    expect(isSwept(accept(state, swept(state, peerOf(3))))).toBe(true)
  })

  it("peer-T12: an ejection begins the sweep anew while it is not done, and not after", () => {
    let state = accept(founded(4), joined(founded(4), 4))
    const eject = (n: number): ClusterEvent => ({ _tag: "Ejected", ...lifeOf(state, peerOf(n)) })
    state = accept(state, planOf(state))
    state = accept(state, { _tag: "Gained", ...lifeOf(state, peerOf(4)), ordinal: 1 })
    state = accept(state, swept(state, peerOf(0)))
    state = accept(state, eject(1))
    expect(state.sweep).toEqual({ round: 2, missing: [0, 2, 3, 4].map(peerOf) })
    for (const n of [0, 2, 3, 4]) state = accept(state, swept(state, peerOf(n)))
    state = accept(state, eject(2))
    expect(state.sweep).toEqual({ round: 2, missing: [] })
  })

  it("a leaver goes when others hold all that it owned, and not before", () => {
    let state = founded(4)
    const life = lifeOf(state, peerOf(0))
    expect(outputOf(state, { _tag: "Left", ...life })).toMatchObject({ reason: "not-leaving" })
    state = accept(state, { _tag: "Leaving", ...life })
    expect(outputOf(state, { _tag: "Left", ...life })).toMatchObject({ reason: "still-owner" })
    state = settle(state)
    expect(state.gone).toEqual([{ ...life, how: "left" }])
    expect(outputOf(state, { _tag: "Left", ...life })).toEqual({ _tag: "Unchanged" })
  })

  it("peer-B2, peer-B16: a life that is gone never comes back; a later life of the name may", () => {
    let state = founded(4)
    const life = lifeOf(state, peerOf(3))
    expect(outputOf(state, { _tag: "Joined", ...life, incarnation: 1, weight: 1 })).toMatchObject({
      reason: "other-life"
    })
    state = accept(state, { _tag: "Ejected", ...life })
    const later = { _tag: "Joined", ...life, incarnation: 1, weight: 1 } as const
    expect(outputOf(state, later)).toMatchObject({ reason: "keys-unsettled" })
    state = settle(state)
    expect(outputOf(state, { _tag: "Joined", ...life, weight: 1 })).toMatchObject({
      reason: "gone"
    })
    expect(outputOf(state, { _tag: "Leaving", ...life })).toMatchObject({ reason: "not-a-member" })
    state = settle(accept(state, later))
    expect(keysOwnedBy(state.current, peerOf(3))).not.toEqual(KeySet.empty)
  })

  it("the last active member neither leaves nor is ejected", () => {
    const alone = founded(1)
    const life = lifeOf(alone, peerOf(0))
    for (const _tag of ["Leaving", "Ejected"] as const) {
      expect(outputOf(alone, { _tag, ...life })).toMatchObject({ reason: "last-member" })
    }
  })

  it("a state goes through its codec unchanged", () => {
    const state = accept(founded(3), joined(founded(3), 3))
    const codec = Schema.toCodecJson(ClusterState)
    const planned = accept(state, planOf(state))
    const encoded = Schema.encodeSync(codec)(planned)
    expect(Schema.decodeUnknownSync(codec)(JSON.parse(JSON.stringify(encoded)))).toEqual(planned)
    const { sweep: _, ...earlier } = JSON.parse(JSON.stringify(encoded))
    expect(Schema.decodeUnknownSync(codec)(earlier)).toEqual(planned)
  })
})

const never = (): never => {
  throw new Error("this is there")
}
