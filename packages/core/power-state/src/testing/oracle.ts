/**
 * What must hold of every history, watched over all replicas that ever were, the dead and the
 * ejected included.
 */
import type { ConsistentOutput, Entry, EventId, Participant } from "../index.ts"
import {
  compareEventIds,
  ejectionMark,
  formatEventId,
  formatParticipant,
  infimumId,
  infimumValue,
  invariants
} from "../index.ts"
import { formatDigest } from "../digest.ts"
import type { Words } from "./replicas.ts"
import { wordList } from "./replicas.ts"

export const check = (isTrue: boolean, what: string): void => {
  if (!isTrue) throw new Error(what)
}

const notBelow = (after: Words, before: Words): boolean => {
  const [left, right] = [infimumId(after), infimumId(before)]
  return right === null || (left !== null && compareEventIds(left, right) >= 0)
}

export class Oracle {
  readonly outputs = new Map<string, ConsistentOutput<number>>()
  /** By id, the request of each event that was ever drawn. */
  readonly drawn = new Map<string, string>()
  /** By replica, the ids that it gave back. */
  readonly given = new Map<string, Map<string, Entry<string>>>()
  readonly #digests = new Map<number, string>()
  readonly #marks = new Map<string, number>()
  #longest: ReadonlyArray<string> = []

  /** One step of one replica, from what it had saved before. */
  checkStep(before: Words | undefined, after: Words): void {
    check(before === undefined || notBelow(after, before), "the infimum went down")
    const violations = invariants(wordList, after)
    check(violations.length === 0, JSON.stringify(violations))
    this.#checkHistory(after)
    this.#checkMarks(after)
  }

  /** There is one history, and everyone has folded a prefix of it. */
  #checkHistory(state: Words): void {
    const { count, digest } = state.infimum
    const known = this.#digests.get(count)
    const text = formatDigest(digest)
    check(known === undefined || known === text, `two histories of ${count} entries`)
    this.#digests.set(count, text)
    const value = infimumValue(state)
    const [short, long] =
      value.length < this.#longest.length ? [value, this.#longest] : [this.#longest, value]
    check(
      short.every((word, index) => word === long[index]),
      "a folded history that is no prefix"
    )
    this.#longest = long
  }

  #checkMarks(state: Words): void {
    const ejected: ReadonlyArray<{ readonly participant: Participant }> = [
      ...state.seals,
      ...state.infimum.departed
    ]
    for (const { participant } of ejected) {
      const mark = ejectionMark(state, participant)
      if (mark === null) continue
      const name = formatParticipant(participant)
      const known = this.#marks.get(name)
      check(known === undefined || known === mark, `two marks of ${name}: ${known} and ${mark}`)
      this.#marks.set(name, mark)
    }
  }

  note(outputs: ReadonlyArray<ConsistentOutput<number>>): void {
    for (const output of outputs) {
      const id = formatEventId(output.id)
      const known = this.outputs.get(id)
      check(known === undefined || known.output === output.output, `two outputs of ${id}`)
      this.outputs.set(id, output)
    }
  }

  wrote(id: EventId, request: string): void {
    const name = formatEventId(id)
    check(!this.drawn.has(name), `${name} was drawn twice`)
    this.drawn.set(name, request)
  }

  gaveBack(replica: string, dropped: ReadonlyArray<Entry<string>>): void {
    if (dropped.length === 0) return
    const given = this.given.get(replica) ?? new Map<string, Entry<string>>()
    this.given.set(replica, given)
    for (const entry of dropped) {
      const id = formatEventId(entry)
      check(!given.has(id), `${replica} gave ${id} back twice`)
      given.set(id, entry)
    }
  }
}
