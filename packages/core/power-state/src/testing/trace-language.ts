/**
 * The little language of this core's traces: replicas of one list of words, and the states that
 * they send each other. After each step a replica acknowledges and saves, as a peer does.
 *
 *     birth alice of alice bob window=128   a replica, born with these participants; the authority
 *                                           over ejections is the majority, or authority=cluster
 *                                           and provisional=yes: it waits to be confirmed
 *     confirm alice                         alice knows that her birth is the one that counts
 *     write alice word request=r1 max=9     an event, at most so many pending
 *     join alice dave                       alice lets dave in; dave begins with her state
 *     leave bob
 *     eject alice bob                       alice puts bob out
 *     tell alice bob                        alice's state reaches bob at once
 *     send alice m1                         keeps alice's state as the message m1
 *     deliver m1 bob                        bob hears it; a message may be delivered again
 *     restore bob m1                        bob goes back to what m1 holds
 *     compare alice bob                     whether they have anything to tell each other
 *
 * A participant is `peer` or, in a later life, `peer.incarnation`.
 */
import type { TraceCommand, TraceLanguage, TraceView } from "@holdfast/suites"
import { Result } from "effect"
import type { ConsistentOutput, Entry, EventId, Participant } from "../index.ts"
import {
  acknowledge,
  confirm,
  disassociate,
  divergent,
  eject,
  ejectionMark,
  event,
  includesParticipant,
  hear,
  holders,
  infimumId,
  infimumParticipants,
  infimumValue,
  invariants,
  isProvisional,
  makeParticipant,
  participate,
  pendingEntries,
  projectedParticipants,
  projectedValue,
  stateHash,
  undecidedEjections
} from "../index.ts"
import type { Words } from "./replicas.ts"
import { born, wordList } from "./replicas.ts"

/** A fresh world without replicas. */
export const openLanguage = (): TraceLanguage => {
  const world = new World()
  return { verbs: world.verbs, view: () => world.view() }
}

const participantOf = (name: string): Participant => {
  const [peer = "", incarnation = "0"] = name.split(".")
  return makeParticipant(peer, Number(incarnation))
}

const nameOf = ({ incarnation, peer }: Participant): string =>
  incarnation === 0 ? peer : `${peer}.${incarnation}`

const idOf = ({ issuer, ordinal }: EventId): string => `${ordinal}@${nameOf(issuer)}`

const namesOf = (participants: ReadonlyArray<Participant>): string =>
  participants.map(nameOf).join(" ")

const describeEntry = (entry: Entry<string>): string => {
  switch (entry._tag) {
    case "Event":
      return `${idOf(entry)} ${entry.event}`
    case "Join":
      return `${idOf(entry)} lets ${nameOf(entry.participant)} in`
    case "Leave":
      return `${idOf(entry)} leaves`
    case "Eject":
      return `${idOf(entry)} puts ${nameOf(entry.participant)} out`
  }
}

const describeOutput = (name: string, fixed: ConsistentOutput<number>): string => {
  const request = fixed.request === null ? "" : ` for ${fixed.request}`
  return `fixed at ${name}: ${idOf(fixed.id)} has output ${fixed.output}${request}`
}

const refused = (error: { readonly _tag: string; readonly message: string }): string =>
  `refused, ${error._tag}: ${error.message}`

const wordsOf = (words: ReadonlyArray<string>): string => `[${words.join(" ")}]`

class World {
  private readonly replicas = new Map<string, Words>()
  private readonly messages = new Map<string, { readonly from: string; readonly state: Words }>()

  readonly verbs: TraceLanguage["verbs"] = {
    birth: (command) => {
      const name = command.word("a replica")
      if (command.word("of") !== "of") throw new Error("a birth is of participants")
      const founders = command.rest().map(participantOf)
      const requestWindow = command.numberSetting("window")
      const authority = command.setting("authority") === "cluster" ? "cluster" : "majority"
      const state = born(founders, {
        authority,
        isProvisional: command.setting("provisional") === "yes",
        ...(requestWindow === undefined ? {} : { requestWindow })
      })
      this.replicas.set(name, state)
      return []
    },
    confirm: (command) => {
      const name = command.word("a replica")
      const confirmed = confirm(wordList, this.replica(name), participantOf(name))
      this.replicas.set(name, confirmed.state)
      return confirmed.outputs.map((output) => describeOutput(name, output))
    },
    write: (command) => this.write(command),
    join: (command) => this.join(command),
    leave: (command) => {
      const name = command.word("a participant")
      const left = disassociate(wordList, this.replica(name), participantOf(name))
      return Result.isFailure(left) ? [refused(left.failure)] : this.save(name, left.success)
    },
    eject: (command) => {
      const name = command.word("a participant")
      const ejected = eject(wordList, this.replica(name), {
        issuer: participantOf(name),
        participant: participantOf(command.word("who is ejected"))
      })
      return Result.isFailure(ejected)
        ? [refused(ejected.failure)]
        : this.save(name, ejected.success)
    },
    tell: (command) => {
      const from = command.word("a replica")
      return this.deliver({ from, state: this.replica(from) }, command.word("who hears it"))
    },
    send: (command) => {
      const from = command.word("a replica")
      this.messages.set(command.word("a message"), { from, state: this.replica(from) })
      return []
    },
    deliver: (command) => {
      const message = this.message(command.word("a message"))
      return this.deliver(message, command.word("a replica"))
    },
    restore: (command) => {
      const name = command.word("a replica")
      this.replicas.set(name, this.message(command.word("a message")).state)
      return []
    },
    compare: (command) => {
      const hashes = command.rest().map((name) => stateHash(this.replica(name)))
      return [new Set(hashes).size === 1 ? "they are equal" : "they differ"]
    }
  }

  /** What each replica has folded, holds, reads and waits for. */
  view(): TraceView {
    const lines = new Map<string, string>()
    for (const [name, state] of this.replicas) {
      const [violation] = invariants(wordList, state)
      if (violation !== undefined) throw new Error(`${violation.invariant}: ${violation.detail}`)
      const id = infimumId(state)
      const folded = wordsOf(infimumValue(state))
      lines.set(`${name} folded`, id === null ? folded : `${folded} up to ${idOf(id)}`)
      if (isProvisional(state)) lines.set(`${name} birth`, "provisional")
      const value = wordsOf(projectedValue(state))
      if (value !== folded) lines.set(`${name} reads`, value)
      for (const entry of pendingEntries(state)) {
        const held = namesOf(holders(state, entry))
        lines.set(`${name} pending ${describeEntry(entry)}`, `held by ${held || "nobody"}`)
      }
      const members = namesOf(infimumParticipants(state))
      const projected = namesOf(projectedParticipants(state))
      const to = members === projected ? "" : `, then ${projected}`
      lines.set(`${name} members`, `${members}${to}`)
      for (const participant of undecidedEjections(state)) {
        lines.set(`${name} on ${nameOf(participant)}`, "ejection not decided")
      }
      for (const { participant } of [...state.seals, ...state.infimum.departed]) {
        const mark = ejectionMark(state, participant)
        if (mark === null) continue
        lines.set(`${name} on ${nameOf(participant)}`, `ejected, entries up to ${mark} count`)
      }
      for (const { oldest, participant } of divergent(state)) {
        lines.set(`${name} waits for ${nameOf(participant)}`, `since ${idOf(oldest)}`)
      }
    }
    return lines
  }

  private replica(name: string): Words {
    const state = this.replicas.get(name)
    if (state === undefined) throw new Error(`there is no replica ${name}`)
    return state
  }

  private message(name: string) {
    const message = this.messages.get(name)
    if (message === undefined) throw new Error(`nothing was sent as ${name}`)
    return message
  }

  /** Acknowledges what a replica holds now, unless it takes no part any more, and keeps it. */
  private save(name: string, state: Words): ReadonlyArray<string> {
    const self = participantOf(name)
    this.replicas.set(name, state)
    if (!includesParticipant(projectedParticipants(state), self)) return []
    const result = acknowledge(wordList, state, self)
    if (Result.isFailure(result)) return [refused(result.failure)]
    this.replicas.set(name, result.success.state)
    return result.success.outputs.map((output) => describeOutput(name, output))
  }

  private write(command: TraceCommand): ReadonlyArray<string> {
    const name = command.word("a participant")
    const pendingMax = command.numberSetting("max")
    const asked = {
      issuer: participantOf(name),
      event: command.word("a word"),
      request: command.setting("request") ?? null
    }
    const reply = event(
      wordList,
      this.replica(name),
      pendingMax === undefined ? asked : { ...asked, pendingMax }
    )
    if (Result.isFailure(reply)) return [refused(reply.failure)]
    const { id, isRepeat, output, state } = reply.success
    const place = id === null ? "one that is folded" : idOf(id)
    const answer = `${isRepeat ? "repeats" : "is"} ${place}, output ${output}`
    return [answer, ...this.save(name, state)]
  }

  private join(command: TraceCommand): ReadonlyArray<string> {
    const name = command.word("a participant")
    const joiner = command.word("who joins")
    const joined = participate(wordList, this.replica(name), {
      issuer: participantOf(name),
      participant: participantOf(joiner)
    })
    if (Result.isFailure(joined)) return [refused(joined.failure)]
    const lines = this.save(name, joined.success)
    return [...lines, ...this.save(joiner, this.replica(name))]
  }

  private deliver(
    { from, state: sent }: { readonly from: string; readonly state: Words },
    name: string
  ): ReadonlyArray<string> {
    const parties = { from: participantOf(from), to: participantOf(name) }
    const heard = hear(wordList, this.replica(name), { ...parties, state: sent })
    if (Result.isFailure(heard)) return [refused(heard.failure)]
    const { dropped, outputs, renegades, state } = heard.success
    return [
      ...renegades
        .filter((entry) => !dropped.includes(entry))
        .map((entry) => `renegade: ${describeEntry(entry)}`),
      ...dropped.map((entry) => `${name} gives back: ${describeEntry(entry)}`),
      ...outputs.map((output) => describeOutput(name, output)),
      ...this.save(name, state)
    ]
  }
}
