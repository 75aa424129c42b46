/**
 * A little world for property tests: replicas, a network that loses, repeats and reorders, crashes
 * that go back to what was saved, joins and leaves. Each step asserts what must hold of each step.
 */
import { Result } from "effect"
import type { ConsistentOutput, Participant } from "../index.ts"
import {
  acknowledge,
  compareEventIds,
  disassociate,
  event,
  formatEventId,
  infimumId,
  invariants,
  makeParticipant,
  merge,
  participate,
  pendingCount,
  projectedParticipants,
  projectedValue,
  sameParticipant,
  stateHash
} from "../index.ts"
import type { Words } from "./replicas.ts"
import { born, wordList } from "./replicas.ts"

const KINDS = [
  ...(["write", "write", "repeat", "draft", "send", "send", "send"] as const),
  ...(["deliver", "deliver", "deliver", "lose", "join", "leave"] as const)
]

/** One step of a history; numbers pick among whatever there is at that moment. */
export interface Command {
  readonly kind: (typeof KINDS)[number]
  readonly who: number
  readonly what: number
}

/** A step out of any three numbers. */
export const commandOf = ([kind, who, what]: readonly [number, number, number]): Command => ({
  kind: KINDS[kind % KINDS.length] ?? "write",
  who,
  what
})

interface Message {
  readonly to: string
  readonly state: Words
}

const check = (isTrue: boolean, what: string): void => {
  if (!isTrue) throw new Error(what)
}

const notBelow = (after: Words, before: Words): boolean => {
  const [left, right] = [infimumId(after), infimumId(before)]
  return right === null || (left !== null && compareEventIds(left, right) >= 0)
}

export class Cluster {
  readonly replicas = new Map<string, Words>()
  readonly written = new Set<string>()
  readonly outputs = new Map<string, ConsistentOutput<number>>()
  readonly network: Array<Message> = []
  #joined = 0

  constructor(names: ReadonlyArray<string>) {
    for (const name of names)
      this.replicas.set(name, born(names.map((each) => makeParticipant(each))))
  }

  takesPart(name: string): boolean {
    const state = this.replicas.get(name)!
    return projectedParticipants(state).some((each) => each.peer === name)
  }

  /** Those that take part as far as anyone who takes part knows. */
  live(): ReadonlyArray<string> {
    return [...this.replicas.keys()].filter((name) => this.takesPart(name))
  }

  summary(name: string) {
    const state = this.replicas.get(name)!
    return {
      value: projectedValue(state),
      pending: pendingCount(state),
      hash: stateHash(state),
      participants: projectedParticipants(state),
      id: infimumId(state)
    }
  }

  run({ kind, what, who }: Command): void {
    const names = [...this.replicas.keys()]
    const name = names[who % names.length]!
    switch (kind) {
      case "write":
        return this.write(name, `r${this.written.size}`)
      case "repeat":
        return this.written.size === 0
          ? undefined
          : this.write(name, [...this.written][what % this.written.size]!)
      case "draft":
        return this.writeThenCrash(name)
      case "send":
        return this.send(name, names[what % names.length]!)
      case "deliver":
        return this.deliver(who, what % 3 === 0)
      case "lose":
        if (this.network.length > 0) this.network.splice(who % this.network.length, 1)
        return
      case "join":
        return this.join(name, what)
      case "leave":
        return this.leave(name)
    }
  }

  /** Everything that leaves or counts goes through here: acknowledged, checked, then saved. */
  save(name: string, state: Words): void {
    const self = makeParticipant(name)
    const before = this.replicas.get(name)
    const isIn = projectedParticipants(state).some((each) => sameParticipant(each, self))
    const result = isIn
      ? Result.getOrThrow(acknowledge(wordList, state, self))
      : { state, outputs: [] }
    this.note(result.outputs)
    check(before === undefined || notBelow(result.state, before), "the infimum went down")
    const violations = invariants(wordList, result.state)
    check(violations.length === 0, JSON.stringify(violations))
    this.replicas.set(name, result.state)
  }

  note(outputs: ReadonlyArray<ConsistentOutput<number>>): void {
    for (const output of outputs) {
      const id = formatEventId(output.id)
      const known = this.outputs.get(id)
      check(known === undefined || known.output === output.output, `two outputs of ${id}`)
      this.outputs.set(id, output)
    }
  }

  write(name: string, request: string): void {
    if (!this.takesPart(name)) return
    const issuer = makeParticipant(name)
    const reply = event(wordList, this.replicas.get(name)!, { issuer, event: request, request })
    this.save(name, Result.getOrThrow(reply).state)
    this.written.add(request)
  }

  writeThenCrash(name: string): void {
    if (!this.takesPart(name)) return
    const issuer = makeParticipant(name)
    const before = this.replicas.get(name)!
    const hash = stateHash(before)
    Result.getOrThrow(event(wordList, before, { issuer, event: "lost", request: "lost" }))
    check(hash === stateHash(before), "a state changed")
  }

  send(from: string, to: string): void {
    if (from !== to) this.network.push({ to, state: this.replicas.get(from)! })
  }

  deliver(which: number, isRepeated: boolean): void {
    if (this.network.length === 0) return
    const index = which % this.network.length
    const { state, to } = this.network[index]!
    if (!isRepeated) this.network.splice(index, 1)
    this.hear(to, state)
  }

  /** One who has left hears nothing, unless what comes says that he was let in again. */
  hear(name: string, incoming: Words): void {
    const self = makeParticipant(name)
    const isIn = (state: Words) =>
      projectedParticipants(state).some((each) => sameParticipant(each, self))
    const local = this.replicas.get(name)!
    if (!isIn(local) && !isIn(incoming)) return
    const merged = Result.getOrThrow(merge(wordList, local, incoming))
    check(merged.renegades.length === 0, `renegades: ${JSON.stringify(merged.renegades)}`)
    this.note(merged.outputs)
    this.save(name, merged.state)
  }

  /** A new one begins with the state that lets it in; one who left merges it with his last. */
  join(name: string, what: number): void {
    if (!this.takesPart(name)) return
    const gone = [...this.replicas.keys()].filter((each) => !this.takesPart(each))
    const isAgain = gone.length > 0 && what % 2 === 0
    if (!isAgain && this.#joined >= 3) return
    const joiner = isAgain ? gone[what % gone.length]! : `j${(this.#joined += 1)}`
    const participant: Participant = makeParticipant(joiner)
    const before = this.replicas.get(name)!
    const state = Result.getOrThrow(
      participate(wordList, before, { issuer: makeParticipant(name), participant })
    )
    this.save(name, state)
    if (isAgain) this.hear(joiner, this.replicas.get(name)!)
    else this.save(joiner, this.replicas.get(name)!)
  }

  leave(name: string): void {
    const left = disassociate(wordList, this.replicas.get(name)!, makeParticipant(name))
    if (Result.isSuccess(left)) this.save(name, left.success)
  }

  /** Everybody hears everybody, those who left too, until nothing changes. */
  heal(): void {
    this.network.length = 0
    const names = [...this.replicas.keys()]
    for (let round = 0; round < 20; round += 1) {
      const before = names.map((name) => stateHash(this.replicas.get(name)!)).join()
      for (const from of names) {
        for (const to of names) if (from !== to) this.hear(to, this.replicas.get(from)!)
      }
      if (before === names.map((name) => stateHash(this.replicas.get(name)!)).join()) return
    }
    throw new Error("it does not settle")
  }
}
