import { Result } from "effect"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import type { EventReply } from "./index.ts"
import { event, holders, infimumValue, merge, pendingCount, projectedValue } from "./index.ts"
import type { Words } from "./testing/replicas.ts"
import { alice, bob, born, carol, heard, saved, wordList, write } from "./testing/replicas.ts"

const ask = (
  state: Words,
  request: string,
  issuer = alice
): EventReply<string, number, readonly string[]> =>
  Result.getOrThrow(event(wordList, state, { issuer, event: request, request }))

describe("peer-T24: a repeated request has the first output and changes nothing", () => {
  it("while it is pending, and after it is folded", () => {
    const first = ask(write(born([alice, bob]), alice, "before"), "r1")
    const pending = ask(first.state, "r1")
    expect(pending).toEqual({ ...first, isRepeat: true })
    const folded = heard(saved(first.state, alice), bob, saved(first.state, alice))
    expect(pendingCount(folded)).toBe(0)
    expect(ask(folded, "r1", bob)).toEqual({
      state: folded,
      output: first.output,
      id: null,
      isRepeat: true
    })
  })

  it("when two replicas took it at once: it counts once, with one output", () => {
    const common = born([alice, bob])
    const left = saved(ask(common, "r1").state, alice)
    const right = saved(ask(write(common, bob, "x"), "r1", bob).state, bob)
    const both = heard(left, alice, right)
    expect([...projectedValue(both)].sort()).toEqual(["r1", "x"])
    const done = heard(right, bob, both)
    expect(infimumValue(done)).toEqual(projectedValue(both))
  })

  it("as long as the window reaches, and no longer; alike on all replicas", () => {
    const one = (state: Words, request: string) => saved(ask(state, request).state, alice)
    const filled = ["r1", "r2", "r3"].reduce(one, born([alice], { requestWindow: 2 }))
    expect(ask(filled, "r2").isRepeat).toBe(true)
    expect(ask(filled, "r1").isRepeat).toBe(false)
  })
})

describe("the old state stays valid", () => {
  it("two lines that go on from one state know nothing of each other", () => {
    const requests = fc.array(fc.constantFrom("p", "q", "r", "s", "t"), { maxLength: 12 })
    fc.assert(
      fc.property(requests, requests, requests, fc.boolean(), (root, left, right, isFolded) => {
        const go = (state: Words, list: ReadonlyArray<string>) =>
          list.reduce((next, request) => {
            const written = ask(next, request).state
            return isFolded ? saved(written, alice) : written
          }, state)
        const start = go(born([alice], { requestWindow: 3 }), root)
        const [one, other, oneAgain] = [go(start, left), go(start, right), go(start, left)]
        expect(projectedValue(oneAgain)).toEqual(projectedValue(one))
        const alone = go(go(born([alice], { requestWindow: 3 }), root), right)
        expect(projectedValue(other)).toEqual(projectedValue(alone))
      }),
      { numRuns: 200 }
    )
  })
})

describe("peer-T11 P6: pending is bounded while somebody is silent", () => {
  it("the event is refused and says who is waited for; it is taken when he is back", () => {
    const limit = { pendingMax: 10 }
    let state = born([alice, bob, carol])
    for (let index = 0; index < 10; index += 1) state = saved(write(state, alice, "x"), alice)
    const refused = event(wordList, state, { issuer: alice, event: "y", ...limit })
    expect(Result.isFailure(refused) && refused.failure).toMatchObject({
      _tag: "PendingLimitReached",
      waitingFor: [bob, carol]
    })
    const back = [bob, carol].reduce((next, who) => heard(next, who, next), state)
    expect(pendingCount(back)).toBe(0)
    expect(Result.isSuccess(event(wordList, back, { issuer: alice, event: "y", ...limit }))).toBe(
      true
    )
  })
})

it("who holds an event: those who acknowledged it, and all when it is folded", () => {
  const { id, state } = ask(born([alice, bob, carol]), "r1")
  if (id === null) throw new Error("a new event has an id")
  expect(holders(state, id)).toEqual([])
  const first = saved(state, alice)
  expect(holders(first, id)).toEqual([alice])
  const second = heard(born([alice, bob, carol]), bob, first)
  expect(holders(second, id)).toEqual([alice, bob])
  const merged = Result.getOrThrow(merge(wordList, first, second)).state
  expect(holders(heard(born([alice, bob, carol]), carol, merged), id)).toEqual([alice, bob, carol])
})
