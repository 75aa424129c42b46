import { Result, Schema } from "effect"
import * as fc from "fast-check"
import { readFileSync } from "node:fs"
import { isEncodedDiff, isEncodedState } from "./encoded-state-guard.ts"
import { expect, it } from "vitest"
import {
  codecOf,
  decodeDiff,
  decodeState,
  diff,
  disassociate,
  eject,
  encodeDiff,
  EncodedDiff,
  EncodedState,
  encodeState,
  invariants,
  participate,
  projectedValue,
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
  dave,
  erin,
  heard,
  saved,
  wordList,
  wordListApplication,
  write
} from "./testing/replicas.ts"

const codec = codecOf(wordListApplication)
const encode = (state: Words): unknown => JSON.parse(JSON.stringify(encodeState(codec, state)))
const decode = (encoded: unknown) => decodeState(wordList, codec, encoded)

/** A state with one of everything. */
const sample = (): Words => {
  const first = saved(
    write(born([alice, bob], { requestWindow: 4, authority: "cluster" }), alice, "one", "r1"),
    alice
  )
  const folded = heard(first, bob, first)
  const joined = Result.getOrThrow(
    participate(wordList, folded, { issuer: bob, participant: carol })
  )
  const wrote = saved(write(saved(joined, carol), carol, "two", "r2"), carol)
  return Result.getOrThrow(disassociate(wordList, wrote, bob))
}

const golden = (format: number): unknown =>
  JSON.parse(readFileSync(new URL(`golden-state-${format}.json`, import.meta.url), "utf8"))

const command = fc
  .tuple(fc.nat(), fc.nat({ max: 1000 }), fc.nat({ max: 1000 }))
  .map(stormyCommandOf)

it("peer-P10: what is read back is equal, of any state of any history", () => {
  fc.assert(
    fc.property(fc.array(command, { minLength: 5, maxLength: 60 }), (commands) => {
      const cluster = new Cluster(["a", "b", "c"])
      for (const each of commands) cluster.run(each)
      for (const state of cluster.replicas.values()) {
        const back = Result.getOrThrow(decode(encode(state)))
        expect(stateHash(back)).toBe(stateHash(state))
        expect(projectedValue(back)).toEqual(projectedValue(state))
        expect(invariants(wordList, back)).toEqual([])
        expect(encode(back)).toEqual(encode(state))
      }
    }),
    { numRuns: 100 }
  )
})

it("format 1 is still read: it is the same without ejections", () => {
  expect(stateHash(Result.getOrThrow(decode(golden(1))))).toBe(stateHash(sample()))
  expect(encode(Result.getOrThrow(decode(golden(1))))).toEqual(encode(sample()))
})

/** Dave's ejection is decided, and not folded: carol has not heard what bob did. Erin leaves. */
const sampleWithEjections = (): Words => {
  const birth = born([alice, bob, carol, dave], { requestWindow: 4 })
  const wrote = saved(write(birth, dave, "one", "r1"), dave)
  const out = Result.getOrThrow(eject(wordList, wrote, { issuer: alice, participant: dave }))
  const atCarol = heard(birth, carol, saved(out, alice))
  const joined = Result.getOrThrow(participate(wordList, birth, { issuer: bob, participant: erin }))
  const atErin = saved(saved(joined, bob), erin)
  const atBob = heard(heard(joined, bob, atErin), bob, atCarol)
  const decided = heard(heard(atBob, erin, atErin), alice, atBob)
  const again = heard(decided, erin, decided)
  return heard(again, alice, Result.getOrThrow(disassociate(wordList, again, erin)))
}

it("format 2 is written as it always was, and read", () => {
  expect(encode(sampleWithEjections())).toEqual(golden(2))
  const read = Result.getOrThrow(decode(golden(2)))
  expect(stateHash(read)).toBe(stateHash(sampleWithEjections()))
  expect(invariants(wordList, read)).toEqual([])
})

it.each([
  ["nothing", null],
  ["another format", { ...(golden(1) as object), format: 3 }],
  ["an entry of nobody", { ...(golden(1) as object), participants: [] }],
  [
    "an event of another application",
    { ...(golden(1) as object), entries: [[9, 0, "event", 5, null]] }
  ],
  ["entries in disorder", { ...(golden(1) as object), entries: [[1, 0, "event", "x", null]] }]
])("refused with a reason: %s", (_, encoded) => {
  const result = decode(encoded)
  expect(Result.isFailure(result) && result.failure._tag).toBe("UndecodableState")
})

/** What carol, who has heard nothing of it, would be sent in place of it. */
const sampleDiff = () => {
  const birth = born([alice, bob, carol, dave], { requestWindow: 4 })
  return Result.getOrThrow(diff(sampleWithEjections(), report(birth)))
}

const goldenDiff: unknown = JSON.parse(
  readFileSync(new URL("golden-diff-1.json", import.meta.url), "utf8")
)

it("format 1 of a diff is written as it always was, and read", () => {
  const encoded: unknown = JSON.parse(JSON.stringify(encodeDiff(codec, sampleDiff())))
  expect(encoded).toEqual(goldenDiff)
  expect(Result.getOrThrow(decodeDiff(codec, goldenDiff))).toEqual(sampleDiff())
})

it.each([
  ["nothing", null],
  ["another format", { ...(goldenDiff as object), format: 2 }],
  ["an entry of nobody", { ...(goldenDiff as object), participants: [] }],
  ["a state", golden(2)]
])("a diff is refused with a reason: %s", (_, encoded) => {
  const result = decodeDiff(codec, encoded)
  expect(Result.isFailure(result) && result.failure._tag).toBe("UndecodableState")
})

/** Spoils each place of a form in many ways; how many of the results are refused. */
const spoiled = (
  whole: unknown,
  isOfSchema: (value: unknown) => boolean,
  isQuick: (value: unknown) => boolean
): number => {
  const spoils: ReadonlyArray<unknown> = [null, -1, 0, 1.5, "", "x", [], {}, [[]], [1, 2], [[0, 0]]]
  const places: Array<ReadonlyArray<string>> = []
  const walk = (value: unknown, path: ReadonlyArray<string>): void => {
    places.push(path)
    if (typeof value !== "object" || value === null) return
    for (const [name, inner] of Object.entries(value)) walk(inner, [...path, name])
  }
  walk(whole, [])
  let refused = 0
  for (const path of places) {
    for (const spoil of spoils) {
      const copy = { root: structuredClone(whole) }
      const steps = ["root", ...path]
      const last = steps.pop() ?? "root"
      const parent = steps.reduce<object>((at, name) => Reflect.get(at, name), copy)
      Reflect.set(parent, last, spoil)
      const expected = isOfSchema(copy.root)
      expect(isQuick(copy.root), `${path.join(".")} = ${JSON.stringify(spoil)}`).toBe(expected)
      refused += expected ? 0 : 1
    }
  }
  return refused
}

it("what is read quickly is what the schemas accept", () => {
  const provisional = { ...(golden(2) as object), provisional: true }
  expect(spoiled(golden(2), Schema.is(EncodedState), isEncodedState)).toBeGreaterThan(300)
  expect(spoiled(provisional, Schema.is(EncodedState), isEncodedState)).toBeGreaterThan(300)
  expect(spoiled(goldenDiff, Schema.is(EncodedDiff), isEncodedDiff)).toBeGreaterThan(300)
})
