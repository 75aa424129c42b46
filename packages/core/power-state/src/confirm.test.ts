/** A provisional birth: it takes everything, and folds nothing until it is confirmed. */
import { Result } from "effect"
import { expect, it } from "vitest"
import {
  codecOf,
  confirm,
  decodeState,
  diff,
  disassociate,
  encodeState,
  forceEject,
  hear,
  infimumId,
  invariants,
  isProvisional,
  merge,
  mergeDiff,
  pendingCount,
  projectedValue,
  receive,
  report,
  stateHash
} from "./index.ts"
import type { Words } from "./testing/replicas.ts"
import {
  alice,
  bob,
  born,
  heard,
  saved,
  wordList,
  wordListApplication,
  write
} from "./testing/replicas.ts"

const birth = born([alice, bob], { isProvisional: true })
const written = saved(write(birth, alice, "one", "r1"), alice)
/** All have acknowledged it. */
const held = heard(written, bob, written)
const codec = codecOf(wordListApplication)
const reread = (state: Words) =>
  Result.getOrThrow(
    decodeState(wordList, codec, JSON.parse(JSON.stringify(encodeState(codec, state))))
  )

it("folds nothing, whoever has acknowledged it, and is read all the same", () => {
  expect(isProvisional(held)).toBe(true)
  expect(infimumId(held)).toBeNull()
  expect(pendingCount(held)).toBe(1)
  expect(projectedValue(held)).toEqual(["one"])
})

it("folds what all have acknowledged when it is confirmed, once", () => {
  const { outputs, state } = confirm(wordList, held, alice)
  expect(outputs).toEqual([{ id: { ordinal: 1, issuer: alice }, request: "r1", output: 0 }])
  expect(pendingCount(state)).toBe(0)
  expect(confirm(wordList, state, alice)).toEqual({ state, outputs: [] })
})

it("is confirmed by hearing it, also where nothing else is new", () => {
  const { state } = confirm(wordList, written, alice)
  for (const [local, incoming] of [
    [written, state],
    [state, written]
  ] as const) {
    expect(isProvisional(Result.getOrThrow(merge(wordList, local, incoming)).state)).toBe(false)
  }
})

it("differs by its hash from one that is confirmed, so that a comparison finds it", () => {
  const empty = confirm(wordList, birth, alice).state
  expect(stateHash(empty)).toBe(stateHash(born([alice, bob])))
  expect(stateHash(empty)).not.toBe(stateHash(birth))
})

it("is provisional still when it was saved and read, and never without its place in a history", () => {
  expect(isProvisional(reread(held))).toBe(true)
  expect(stateHash(reread(held))).toBe(stateHash(held))
  const folded = confirm(wordList, held, alice).state
  expect(isProvisional(reread(folded))).toBe(false)
  const spoilt = Object.assign({}, encodeState(codec, folded), { provisional: true })
  const result = decodeState(wordList, codec, spoilt)
  expect(Result.isFailure(result) && result.failure._tag).toBe("UndecodableState")
})

it("is confirmed by an operator who forces an ejection: his replica is the one that counts", () => {
  const command = { issuer: alice, ejected: [bob], lineage: 7 }
  const { state } = Result.getOrThrow(forceEject(wordList, held, command))
  expect(isProvisional(state)).toBe(false)
  expect(pendingCount(state)).toBe(0)
})

it("is confirmed by one who has left, of whom nothing else is taken", () => {
  const left = Result.getOrThrow(disassociate(wordList, held, bob))
  const told = heard(held, alice, left)
  const { state } = confirm(wordList, left, bob)
  const knowing = Result.getOrThrow(hear(wordList, told, { from: bob, to: alice, state })).state
  expect(isProvisional(knowing)).toBe(false)
  expect(pendingCount(saved(knowing, alice))).toBe(0)
})

it("stays confirmed where one who does not know it yet sends a diff", () => {
  const folded = confirm(wordList, held, alice).state
  const sent = saved(write(held, bob, "two", "r2"), bob)
  const made = Result.getOrThrow(diff(sent, report(folded)))
  const received = Result.getOrThrow(receive(wordList, folded, made))
  expect(invariants(wordList, received)).toEqual([])
  const delivery = { from: bob, to: alice, diff: made }
  const { state } = Result.getOrThrow(mergeDiff(wordList, folded, delivery))
  expect(isProvisional(state)).toBe(false)
  expect(projectedValue(state)).toEqual(["one", "two"])
})
