/**
 * The end of a stormy history: the network is whole again, the dead are ejected, everybody hears
 * everybody. Then nothing may be pending, as long as those in good standing could decide.
 */
import type { Authority, Participant } from "../index.ts"
import {
  formatEventId,
  formatParticipant,
  infimumParticipants,
  infimumValue,
  isEjected,
  pendingCount,
  pendingEntries
} from "../index.ts"
import { neededSurvivors } from "../seal.ts"
import { standingOf } from "../standing.ts"
import type { Cluster } from "./history.ts"
import { check } from "./oracle.ts"
import type { Words } from "./replicas.ts"

/** What came of a history: whether those in good standing could decide, and how much was lost. */
export interface Outcome {
  readonly isDecided: boolean
  readonly ejected: number
  readonly givenBack: number
}

const isAmong = (list: ReadonlyArray<Participant>, name: string): boolean =>
  list.some((each) => formatParticipant(each) === name)

/** One who left, and whom somebody let in who did not know of it, never answers: he is ejected. */
const unaware = (cluster: Cluster): ReadonlyArray<string> => {
  const live = cluster.live()
  return [...cluster.replicas.keys()].filter(
    (name) =>
      !cluster.takesPart(name) && live.some((each) => cluster.isIn(cluster.state(each), name))
  )
}

const ejectTheDead = (cluster: Cluster): void => {
  for (const dead of [...cluster.dead, ...cluster.spent, ...unaware(cluster)]) {
    const [first] = cluster.live()
    if (first !== undefined) cluster.eject(first, dead)
  }
}

/** Those who survive by what they know, and whom nobody who takes part knows to be ejected. */
const inGoodStanding = (cluster: Cluster): ReadonlyArray<string> => {
  const live = cluster.live()
  const isBad = (name: string) =>
    live.some((each) => isEjected(cluster.state(each), cluster.self(name)))
  const survives = (name: string) =>
    isAmong(standingOf(cluster.state(name)).survivors, name) && !cluster.decisions.includes(name)
  return live.filter((name) => survives(name) && !isBad(name))
}

/** The ids of the events that a replica holds: in the end they must be, if it survives. */
const heldBy = (cluster: Cluster, name: string): ReadonlyArray<string> =>
  pendingEntries(cluster.state(name)).flatMap((entry) =>
    entry._tag === "Event" ? [formatEventId(entry)] : []
  )

/** The participants of the newest infimum. */
const newestMembers = (states: ReadonlyArray<Words>): ReadonlyArray<Participant> => {
  const [first, ...others] = states
  if (first === undefined) return []
  return infimumParticipants(
    others.reduce((one, other) => (other.infimum.count > one.infimum.count ? other : one), first)
  )
}

const checkEqual = (cluster: Cluster, survivors: ReadonlyArray<string>): void => {
  const [first, ...others] = survivors.map((name) => cluster.summary(name))
  for (const other of others) {
    const [left, right] = [JSON.stringify(first), JSON.stringify(other)]
    check(left === right, `survivors differ: ${left} and ${right}`)
  }
  check(first?.pending === 0, `pending at the end: ${first?.pending}`)
}

/** Each event that was drawn is folded, or given back, and never both. */
const checkEvents = (cluster: Cluster, survivors: ReadonlyArray<string>): void => {
  const { drawn, given, outputs } = cluster.oracle
  const back = new Set([...given.values()].flatMap((ids) => [...ids.keys()]))
  for (const id of back) check(!outputs.has(id), `${id} is folded and was given back`)
  for (const name of survivors) {
    check(!given.has(name), `${name}, in good standing, gave something back`)
  }
  for (const id of drawn.keys()) {
    const issuer = id.slice(id.indexOf("@") + 1)
    if (cluster.dead.has(issuer) || outputs.has(id)) continue
    check(given.get(issuer)?.has(id) === true, `${id} is neither folded nor given back`)
  }
}

/** Everything given back is submitted again, and is there once. */
const checkResubmitted = (cluster: Cluster, survivors: ReadonlyArray<string>): void => {
  const [first] = survivors
  if (first === undefined) return
  const again = new Set<string>()
  for (const entries of cluster.oracle.given.values()) {
    for (const entry of entries.values()) {
      if (entry._tag === "Event" && entry.request !== null) again.add(entry.request)
    }
  }
  for (const request of again) cluster.write(first, request)
  cluster.heal()
  const value = infimumValue(cluster.state(first))
  check(new Set(value).size === value.length, "a request counted twice")
  for (const request of again) check(value.includes(request), `${request} is lost`)
  check(pendingCount(cluster.state(first)) === 0, "pending after it was submitted again")
}

/** Heals, ejects the dead, and checks the end. */
export const settleAfterStorm = (cluster: Cluster, authority: Authority): Outcome => {
  cluster.heal()
  ejectTheDead(cluster)
  const held = new Map(cluster.live().map((name) => [name, heldBy(cluster, name)]))
  cluster.heal()
  const survivors = inGoodStanding(cluster)
  const members = newestMembers(survivors.map((name) => cluster.state(name)))
  const present = survivors.filter((name) => isAmong(members, name)).length
  const ejected = [...cluster.replicas.keys()].length - survivors.length
  const givenBack = cluster.oracle.given.size
  if (present < neededSurvivors(authority, members.length)) {
    return { isDecided: false, ejected, givenBack }
  }
  checkEqual(cluster, survivors)
  checkEvents(cluster, survivors)
  for (const id of survivors.flatMap((name) => held.get(name) ?? [])) {
    check(cluster.outputs.has(id), `${id}, held by a survivor, is lost`)
  }
  checkResubmitted(cluster, survivors)
  return { isDecided: true, ejected, givenBack }
}
