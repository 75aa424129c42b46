/** What the tests of this package share: an application that shows order, and terse calls. */
import { Result } from "effect"
import type { Application, Birth, Fold, Participant, PowerState } from "../index.ts"
import { acknowledge, create, event, makeParticipant, merge } from "../index.ts"
import { Schema } from "effect"

/** Events are words; the state is the list of them, the output the place in the list. */
export const wordList: Fold<string, number, ReadonlyArray<string>> = {
  initial: [],
  apply: (word, words) => ({ output: words.length, state: [...words, word] })
}

/** The same with its schemas. */
export const wordListApplication: Application<string, number, ReadonlyArray<string>> = {
  ...wordList,
  name: "words",
  version: 1,
  Event: Schema.String,
  Output: Schema.Int,
  State: Schema.Array(Schema.String),
  index: () => []
}

export type Words = PowerState<string, number, ReadonlyArray<string>>

export const [alice, bob, carol, dave, erin] = [
  makeParticipant("alice"),
  makeParticipant("bob"),
  makeParticipant("carol"),
  makeParticipant("dave"),
  makeParticipant("erin")
] as const

export const origin = { key: "words", epoch: 0, lineage: 0 }

export const born = (
  participants: ReadonlyArray<Participant>,
  options: Pick<Birth, "requestWindow" | "authority" | "isProvisional"> = {}
): Words => create(wordList, { origin, participants, ...options })

/** One word by `issuer`, not acknowledged. */
export const write = (
  state: Words,
  issuer: Participant,
  word: string,
  request: string | null = null
): Words => Result.getOrThrow(event(wordList, state, { issuer, event: word, request })).state

/** Acknowledged, as by the peer that saved it. */
export const saved = (state: Words, participant: Participant): Words =>
  Result.getOrThrow(acknowledge(wordList, state, participant)).state

/** `participant` hears `incoming`, and saves. */
export const heard = (state: Words, participant: Participant, incoming: Words): Words =>
  saved(Result.getOrThrow(merge(wordList, state, incoming)).state, participant)
