/**
 * A little world for property tests: replicas, a network that loses, repeats, reorders and is cut,
 * crashes that go back to what was saved, deaths, joins, leaves, ejections that contradict each
 * other, and returns under a new incarnation. Each step asserts what must hold of each step.
 */
import { Result } from "effect"
import type { Authority, Birth, Participant } from "../index.ts"
import {
  acknowledge,
  confirm,
  disassociate,
  eject,
  ejectionMark,
  event,
  includesParticipant,
  formatParticipant,
  hear,
  infimumId,
  isEjected,
  makeParticipant,
  participate,
  pendingCount,
  projectedParticipants,
  projectedValue,
  stateHash
} from "../index.ts"
import { check, Oracle } from "./oracle.ts"
import type { Words } from "./replicas.ts"
import { born, wordList } from "./replicas.ts"

const CALM = [
  ...(["write", "write", "repeat", "draft", "send", "send", "send"] as const),
  ...(["deliver", "deliver", "deliver", "lose", "join", "leave"] as const)
]
const STORMY = [
  ...CALM,
  ...(["tell", "tell", "tell", "tell", "tell", "tell", "tell", "tell", "tell", "tell"] as const),
  ...(["write", "write", "learn", "learn", "eject", "eject", "return", "die"] as const),
  ...(["cut", "mend", "confirm"] as const)
]

/** One step of a history; numbers pick among whatever there is at that moment. */
export interface Command {
  readonly kind: (typeof STORMY)[number]
  readonly who: number
  readonly what: number
}

/** A step out of any three numbers. */
export const commandOf = ([kind, who, what]: readonly [number, number, number]): Command => ({
  kind: CALM[kind % CALM.length] ?? "write",
  who,
  what
})

/** The same, with ejections, deaths and cuts of the network. */
export const stormyCommandOf = ([kind, who, what]: readonly [number, number, number]): Command => ({
  kind: STORMY[kind % STORMY.length] ?? "write",
  who,
  what
})

interface Message {
  readonly from: string
  readonly to: string
  readonly state: Words
}

const JOINERS_MAX = 3
const RETURNS_MAX = 2

/** What a history leads to; `who` are the replicas by the names of their participants. */
export class Cluster {
  readonly replicas = new Map<string, Words>()
  readonly participants = new Map<string, Participant>()
  readonly written = new Set<string>()
  readonly oracle = new Oracle()
  readonly network: Array<Message> = []
  readonly dead = new Set<string>()
  readonly spent = new Set<string>()
  /** What the cluster agreed: whom it ejected, in this order. */
  readonly decisions: Array<string> = []
  readonly #decisionsKnown = new Map<string, number>()
  readonly #authority: Authority
  #joined = 0
  #returned = 0
  #isCut: (from: string, to: string) => boolean = () => false

  constructor(
    names: ReadonlyArray<string>,
    birth: Pick<Birth, "authority" | "isProvisional"> = {}
  ) {
    this.#authority = birth.authority ?? "majority"
    const founders = names.map((each) => makeParticipant(each))
    for (const founder of founders) this.#begin(founder, born(founders, birth))
  }

  get outputs() {
    return this.oracle.outputs
  }

  #begin(participant: Participant, state: Words): void {
    const name = formatParticipant(participant)
    this.participants.set(name, participant)
    this.save(name, state)
  }

  self(name: string): Participant {
    return this.participants.get(name)!
  }

  state(name: string): Words {
    return this.replicas.get(name)!
  }

  isIn(state: Words, name: string): boolean {
    return includesParticipant(projectedParticipants(state), this.self(name))
  }

  /** Whether he runs, takes part as far as he knows, and knows of no decision against him. */
  takesPart(name: string): boolean {
    return !this.#isSilent(name) && this.isIn(this.state(name), name)
  }

  /** Dead, spent, or ejected by a decision of the cluster that he knows. */
  #isSilent(name: string): boolean {
    const known = this.decisions.slice(0, this.#decisionsKnown.get(name) ?? 0)
    return this.dead.has(name) || this.spent.has(name) || known.includes(name)
  }

  live(): ReadonlyArray<string> {
    return [...this.replicas.keys()].filter((name) => this.takesPart(name))
  }

  summary(name: string) {
    const state = this.state(name)
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
    const other = names[what % names.length]!
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
        return this.send(name, other)
      case "tell":
        return this.tell(name, other)
      case "deliver":
        return this.deliver(who, what % 3 === 0)
      case "lose":
        if (this.network.length > 0) this.network.splice(who % this.network.length, 1)
        return
      case "join":
        return this.join(name, what)
      case "leave":
        return this.leave(name)
      case "eject":
        return this.eject(name, other)
      case "learn":
        return this.learn(name, what)
      case "return":
        return this.returnAnew(name, other)
      case "die":
        if (what % 3 === 0) this.dead.add(name)
        return
      case "cut":
        this.#isCut = (from, to) =>
          (what >> (names.indexOf(from) % 8)) % 2 !== (what >> (names.indexOf(to) % 8)) % 2
        return
      case "mend":
        this.#isCut = () => false
        return
      case "confirm":
        return this.confirm(name)
    }
  }

  /** Everything that leaves or counts goes through here: acknowledged, checked, then saved. */
  save(name: string, state: Words): void {
    const self = this.self(name)
    const result =
      this.isIn(state, name) && !this.#isSilent(name)
        ? Result.getOrThrow(acknowledge(wordList, state, self))
        : { state, outputs: [] }
    this.oracle.note(result.outputs)
    this.oracle.checkStep(this.replicas.get(name), result.state)
    this.replicas.set(name, result.state)
    this.carryOut(name)
  }

  write(name: string, request: string): void {
    if (!this.takesPart(name)) return
    const issuer = this.self(name)
    const asked = { issuer, event: request, request }
    const reply = Result.getOrThrow(event(wordList, this.state(name), asked))
    this.save(name, reply.state)
    this.written.add(request)
    if (!reply.isRepeat && reply.id !== null) this.oracle.wrote(reply.id, request)
  }

  /** The birth is known to be the one that counts. */
  confirm(name: string): void {
    if (!this.takesPart(name)) return
    const { outputs, state } = confirm(wordList, this.state(name), this.self(name))
    this.oracle.note(outputs)
    this.save(name, state)
  }

  writeThenCrash(name: string): void {
    if (!this.takesPart(name)) return
    const before = this.state(name)
    const hash = stateHash(before)
    const asked = { issuer: this.self(name), event: "lost", request: "lost" }
    Result.getOrThrow(event(wordList, before, asked))
    check(hash === stateHash(before), "a state changed")
  }

  send(from: string, to: string): void {
    if (from === to || this.#isSilent(from) || this.#isCut(from, to)) return
    this.network.push({ from, to, state: this.state(from) })
  }

  /** At once, as a message that nothing delayed. */
  tell(from: string, to: string): void {
    if (from === to || this.#isSilent(from) || this.#isCut(from, to)) return
    this.hear({ from, to, state: this.state(from) })
  }

  deliver(which: number, isRepeated: boolean): void {
    if (this.network.length === 0) return
    const index = which % this.network.length
    const message = this.network[index]!
    if (!isRepeated) this.network.splice(index, 1)
    this.hear(message)
  }

  hear({ from, state, to }: Message): void {
    if (this.dead.has(to)) return
    const parties = { from: this.self(from), to: this.self(to) }
    const heard = hear(wordList, this.state(to), { ...parties, state })
    if (Result.isFailure(heard)) {
      check(heard.failure._tag === "SenderRefused", heard.failure.message)
      return
    }
    this.oracle.note(heard.success.outputs)
    this.oracle.gaveBack(to, heard.success.dropped)
    // Who is given entries back was not in good standing: he comes again as the next incarnation.
    if (heard.success.dropped.length > 0) this.spent.add(to)
    this.save(to, heard.success.state)
  }

  /** A new one begins with the state that lets it in; one who left merges it with his last. */
  join(name: string, what: number): void {
    if (!this.takesPart(name)) return
    const gone = [...this.replicas.keys()].filter(
      (each) => !this.dead.has(each) && !this.takesPart(each) && !this.#isOut(each)
    )
    if (gone.length > 0 && what % 2 === 0) {
      const again = gone[what % gone.length]!
      if (this.#letIn(name, this.self(again))) {
        this.hear({ from: name, to: again, state: this.state(name) })
      }
    } else if (this.#joined < JOINERS_MAX) {
      const joiner = makeParticipant(`j${(this.#joined += 1)}`)
      if (this.#letIn(name, joiner)) this.#begin(joiner, this.state(name))
    }
  }

  #isOut(name: string): boolean {
    const isSpent = this.spent.has(name) || this.decisions.includes(name)
    return isSpent || isEjected(this.state(name), this.self(name))
  }

  #letIn(issuer: string, participant: Participant): boolean {
    const command = { issuer: this.self(issuer), participant }
    const joined = participate(wordList, this.state(issuer), command)
    if (Result.isSuccess(joined)) this.save(issuer, joined.success)
    return Result.isSuccess(joined)
  }

  leave(name: string): void {
    if (!this.takesPart(name)) return
    const left = disassociate(wordList, this.state(name), this.self(name))
    if (Result.isSuccess(left)) this.save(name, left.success)
  }

  /** By majority at once; by the cluster's authority the cluster decides, and each learns of it. */
  eject(name: string, other: string): void {
    if (name === other || !this.takesPart(name)) return
    if (this.#authority === "majority") return this.ejectFrom(name, other)
    if (!this.decisions.includes(other)) this.decisions.push(other)
    this.learn(name, 0)
  }

  /** Of the cluster's decisions a prefix; who knows that he is ejected does nothing any more. */
  learn(name: string, what: number): void {
    if (!this.takesPart(name)) return
    const known = this.#decisionsKnown.get(name) ?? 0
    const until = what % 3 === 0 ? this.decisions.length : known + 1
    this.#decisionsKnown.set(name, Math.min(until, this.decisions.length))
    this.carryOut(name)
  }

  /** Whoever the cluster ejected is ejected, also where he is found to take part only now. */
  carryOut(name: string): void {
    for (const decided of this.decisions.slice(0, this.#decisionsKnown.get(name) ?? 0)) {
      if (this.takesPart(name) && this.isIn(this.state(name), decided)) {
        this.ejectFrom(name, decided)
      }
    }
  }

  ejectFrom(name: string, other: string): void {
    const command = { issuer: this.self(name), participant: this.self(other) }
    const ejected = eject(wordList, this.state(name), command)
    if (Result.isSuccess(ejected)) this.save(name, ejected.success)
  }

  /** One who knows what became of his entries comes back under the next incarnation. */
  returnAnew(name: string, other: string): void {
    const { incarnation, peer } = this.self(other)
    const next = makeParticipant(peer, incarnation + 1)
    const isDecided = ejectionMark(this.state(other), this.self(other)) !== null
    if ((!isDecided && !this.spent.has(other)) || this.dead.has(other) || !this.takesPart(name))
      return
    if (this.participants.has(formatParticipant(next)) || this.#returned >= RETURNS_MAX) return
    this.#returned += 1
    if (this.#letIn(name, next)) this.#begin(next, this.state(name))
  }

  /** Everybody who runs hears everybody, those who left too, until nothing changes. */
  heal(): void {
    this.network.length = 0
    this.#isCut = () => false
    const names = [...this.replicas.keys()].filter((name) => !this.dead.has(name))
    const hashes = () => names.map((name) => stateHash(this.state(name))).join()
    for (let round = 0; round < 30; round += 1) {
      const before = hashes()
      for (const name of names) {
        this.learn(name, 0)
        this.confirm(name)
      }
      for (const from of names) {
        if (this.#isSilent(from)) continue
        for (const to of names) if (from !== to) this.hear({ from, to, state: this.state(from) })
      }
      if (before === hashes()) return
    }
    throw new Error("it does not settle")
  }
}
