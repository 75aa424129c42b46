import { Result } from "effect"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import type { Participant } from "./index.ts"
import {
  codecOf,
  decodeDiff,
  diff,
  encodeDiff,
  hear,
  invariants,
  mergeDiff,
  participate,
  pendingCount,
  projectedValue,
  receive,
  report,
  stateHash
} from "./index.ts"
import { Cluster, stormyCommandOf } from "./testing/history.ts"
import type { Words } from "./testing/replicas.ts"
import {
  alice,
  bob,
  born,
  carol,
  heard,
  saved,
  wordList,
  wordListApplication,
  write
} from "./testing/replicas.ts"

const filled = (state: Words, issuer: Participant, count: number): Words => {
  let next = state
  for (let index = 0; index < count; index += 1) next = write(next, issuer, `${index}`)
  return saved(next, issuer)
}

const codec = codecOf(wordListApplication)

const tagOf = (result: Result.Result<unknown, { readonly _tag: string }>): string =>
  Result.isFailure(result) ? result.failure._tag : "done"

const command = fc
  .tuple(fc.nat(), fc.nat({ max: 1000 }), fc.nat({ max: 1000 }))
  .map(stormyCommandOf)

it("peer-P1: a diff leaves the receiver with just what the full state would have left", () => {
  let merged = 0
  fc.assert(
    fc.property(
      fc.array(command, { minLength: 20, maxLength: 80 }),
      fc.constantFrom<"majority" | "cluster">("majority", "cluster"),
      fc.boolean(),
      (commands, authority, isProvisional) => {
        const cluster = new Cluster(["a", "b", "c", "d"], { authority, isProvisional })
        for (const each of commands) cluster.run(each)
        const names = [...cluster.replicas.keys()]
        for (const from of names) {
          for (const to of names) {
            const [sender, receiver] = [cluster.state(from), cluster.state(to)]
            const parties = { from: cluster.self(from), to: cluster.self(to) }
            const made = diff(sender, report(receiver))
            if (Result.isFailure(made)) continue
            const sent: unknown = JSON.parse(JSON.stringify(encodeDiff(codec, made.success)))
            const received = Result.getOrThrow(decodeDiff(codec, sent))
            expect(received).toEqual(made.success)
            const again = receive(wordList, receiver, received)
            // Where the receiver has folded more, it holds what the sender's entries came to.
            const isAhead = receiver.infimum.count > sender.infimum.count
            if (Result.isSuccess(again) && !isAhead) {
              expect(stateHash(again.success)).toBe(stateHash(sender))
              expect(invariants(wordList, again.success)).toEqual([])
              expect(projectedValue(again.success)).toEqual(projectedValue(sender))
            }
            const short = mergeDiff(wordList, receiver, { ...parties, diff: received })
            const tag = tagOf(short)
            const full = hear(wordList, receiver, { ...parties, state: sender })
            // One who holds what does not count any more has to see the whole of it, and may refuse
            // it when he does.
            const isOut = Result.isFailure(full) || full.success.dropped.length > 0
            if (tag === "DiffTooSparse" && isOut) continue
            expect(tag).toBe(tagOf(full))
            if (Result.isFailure(short) || Result.isFailure(full)) continue
            merged += 1
            expect(stateHash(short.success.state)).toBe(stateHash(full.success.state))
            expect(projectedValue(short.success.state)).toEqual(projectedValue(full.success.state))
            expect(short.success.dropped).toEqual(full.success.dropped)
          }
        }
      }
    ),
    { numRuns: 150 }
  )
  expect(merged).toBeGreaterThan(500)
})

it("its size goes by what is new, not by what is pending", () => {
  const common = filled(born([alice, bob]), alice, 500)
  const atBob = heard(born([alice, bob]), bob, common)
  const atAlice = filled(common, alice, 3)
  const made = Result.getOrThrow(diff(atAlice, report(atBob)))
  expect(made.entries).toHaveLength(3)
  const { state } = Result.getOrThrow(
    mergeDiff(wordList, atBob, { from: alice, to: bob, diff: made })
  )
  expect(pendingCount(saved(state, bob))).toBe(pendingCount(heard(atBob, bob, atAlice)))
})

describe("where a full state is needed", () => {
  it("peer-T8: a joiner who lacks a folded write is sent no diff; nor does he merge one", () => {
    const birth = born([alice, bob])
    const atAlice = saved(write(birth, alice, "w"), alice)
    const join = { issuer: bob, participant: carol }
    const joined = saved(Result.getOrThrow(participate(wordList, birth, join)), bob)
    const atCarol = saved(joined, carol)
    const atBob = heard(joined, bob, heard(atAlice, alice, joined))
    expect(pendingCount(atBob)).toBe(0)
    expect(tagOf(diff(atBob, report(atCarol)))).toBe("FullStateNeeded")
    const forAlice = Result.getOrThrow(diff(atBob, report(atBob)))
    const parties = { from: bob, to: carol }
    expect(tagOf(mergeDiff(wordList, atCarol, { ...parties, diff: forAlice }))).toBe("DiffTooNew")
    const whole = Result.getOrThrow(hear(wordList, atCarol, { ...parties, state: atBob }))
    expect(projectedValue(whole.state)).toEqual(["w"])
  })

  it("a diff against another report leaves out what is not held", () => {
    const birth = born([alice, bob, carol])
    const atAlice = filled(birth, alice, 2)
    const forBob = Result.getOrThrow(diff(atAlice, report(heard(birth, bob, atAlice))))
    const parties = { from: alice, to: carol }
    expect(tagOf(mergeDiff(wordList, birth, { ...parties, diff: forBob }))).toBe("DiffTooSparse")
  })

  it("the receiver has folded more, or comes from another lineage", () => {
    const ahead = saved(saved(write(born([alice, bob]), alice, "x"), alice), bob)
    const other = write(born([alice, bob]), bob, "y")
    expect(tagOf(diff(other, report(ahead)))).toBe("FullStateNeeded")
    const forced = { ...report(ahead), origin: { key: "words", epoch: 0, lineage: 1 } }
    expect(tagOf(diff(ahead, forced))).toBe("FullStateNeeded")
  })

  it("the histories differ although they end at one id", () => {
    const done = (state: Words) => saved(saved(state, alice), bob)
    const common = born([alice, bob])
    const left = done(write(write(common, bob, "x"), alice, "y"))
    const right = done(write(write(common, alice, "x"), alice, "y"))
    const made = Result.getOrThrow(diff(left, report(left)))
    const result = mergeDiff(wordList, right, { from: alice, to: bob, diff: made })
    expect(tagOf(result)).toBe("InfimumDigestMismatch")
  })
})
