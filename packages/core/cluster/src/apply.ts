/**
 * Applies events to the cluster's state: total, and the same on every member.
 *
 * 1. A repeated event changes nothing and says so.
 * 2. An event of a life that is over, or meant for another plan, changes nothing.
 * 3. An ejection is never held up by a step: it ends the step. A sweep that is not done begins
 *    anew, as others may have heard from the ejected what he told nobody else.
 */
import type { PeerId } from "@holdfast/keyspace"
import type { Applied, ClusterEvent, RefusalReason } from "./cluster-event.ts"
import { byName, type ClusterState, type Step, type Sweep } from "./cluster-state.ts"
import { type ClusterMember, formatLife, type GoneMember, type Life, NAMES_MAX } from "./member.ts"
import { endOf, gainersOf, isMember, isSwept, mayGo, memberOf } from "./ownership.ts"

type EventOf<Tag extends ClusterEvent["_tag"]> = Extract<ClusterEvent, { readonly _tag: Tag }>

const accepted = (state: ClusterState): Applied => ({ output: { _tag: "Accepted" }, state })
const unchanged = (state: ClusterState): Applied => ({ output: { _tag: "Unchanged" }, state })
const refused = (state: ClusterState, reason: RefusalReason, message: string): Applied => ({
  output: { _tag: "Refused", reason, message },
  state
})

const stranger = (state: ClusterState, life: Life): Applied =>
  refused(state, "not-a-member", `${formatLife(life)} is no member of the cluster.`)

const lifeOf = ({ incarnation, peer }: Life): Life => ({ peer, incarnation })

/** The members that plans may give keys to, sorted. */
export const activeMembers = ({ members }: ClusterState): ReadonlyArray<ClusterMember> =>
  members.filter(({ phase }) => phase === "active")

const countNames = ({ gone, members }: ClusterState): number =>
  new Set([...members, ...gone].map(({ peer }) => peer)).size

const isNamedOwner = ({ current }: ClusterState, peer: PeerId): boolean =>
  current.segments.some(({ owners }) => owners.includes(peer))

const join = (state: ClusterState, event: EventOf<"Joined">): Applied => {
  const life = lifeOf(event)
  const known = memberOf(state, event.peer)
  if (known?.incarnation === event.incarnation) return unchanged(state)
  const end = endOf(state, life)
  if (end !== null) {
    const message = `${formatLife(life)} has ${end === "left" ? "left" : "been ejected"}; only a later life of it may join.`
    return refused(state, "gone", message)
  }
  if (known !== undefined) {
    const message = `${event.peer} is a member as ${formatLife(known)}; eject that life first, or name the newcomer otherwise.`
    return refused(state, "other-life", message)
  }
  if (isNamedOwner(state, event.peer)) {
    const message = `Keys that an earlier life of ${event.peer} owned are not with others yet; join when they are.`
    return refused(state, "keys-unsettled", message)
  }
  const isNewName = state.gone.every(({ peer }) => peer !== event.peer)
  if (isNewName && countNames(state) >= NAMES_MAX) {
    const message = `The cluster has known ${NAMES_MAX} names, which is the most; let an earlier name come back.`
    return refused(state, "names-full", message)
  }
  const { weight, zone } = event
  const member: ClusterMember = {
    ...life,
    weight,
    ...(zone === undefined ? {} : { zone }),
    phase: "active"
  }
  return accepted({ ...state, members: [...state.members, member].sort(byName) })
}

const isGainer = (state: ClusterState, step: Step, peer: PeerId): boolean =>
  gainersOf(state, step).includes(peer)

const isLastActive = (state: ClusterState, peer: PeerId): boolean =>
  activeMembers(state).every((member) => member.peer === peer)

const beginLeaving = (state: ClusterState, life: Life): Applied => {
  const member = memberOf(state, life.peer)
  if (member === undefined || !isMember(state, life)) {
    return endOf(state, life) === "left" ? unchanged(state) : stranger(state, life)
  }
  if (member.phase === "leaving") return unchanged(state)
  if (isLastActive(state, life.peer)) {
    const message = `${formatLife(life)} is the last active member; nobody is left to take its keys.`
    return refused(state, "last-member", message)
  }
  const members = state.members.map((one) =>
    one === member ? { ...one, phase: "leaving" as const } : one
  )
  const { step } = state
  const isHeldUp = step !== null && isGainer(state, step, life.peer)
  return accepted({ ...state, members, step: isHeldUp ? null : step })
}

const nextSweep = ({ members, sweep }: ClusterState): Sweep => ({
  round: sweep.round + 1,
  missing: members.map(({ peer }) => peer)
})

const hasSwept = ({ round, missing }: Sweep, peer: PeerId): Sweep => ({
  round,
  missing: missing.filter((one) => one !== peer)
})

const withGone = (state: ClusterState, life: Life, how: GoneMember["how"]): ClusterState => ({
  ...state,
  members: state.members.filter(({ peer }) => peer !== life.peer),
  gone: [...state.gone.filter(({ peer }) => peer !== life.peer), { ...life, how }].sort(byName),
  sweep: hasSwept(state.sweep, life.peer)
})

const goAway = (state: ClusterState, life: Life): Applied => {
  if (!isMember(state, life)) {
    return endOf(state, life) === "left" ? unchanged(state) : stranger(state, life)
  }
  if (memberOf(state, life.peer)?.phase !== "leaving") {
    return refused(state, "not-leaving", `${formatLife(life)} has not said that it leaves.`)
  }
  return mayGo(state, life.peer)
    ? accepted(withGone(state, life, "left"))
    : refused(state, "still-owner", `${formatLife(life)} owns keys that others do not hold yet.`)
}

const eject = (state: ClusterState, life: Life): Applied => {
  if (!isMember(state, life)) {
    return endOf(state, life) === null ? stranger(state, life) : unchanged(state)
  }
  if (isLastActive(state, life.peer)) {
    const message = `${formatLife(life)} is the last active member; the cluster would be empty.`
    return refused(state, "last-member", message)
  }
  const after = { ...withGone(state, life, "ejected"), step: null }
  return accepted(isSwept(state) ? after : { ...after, sweep: nextSweep(after) })
}

const sameNames = (names: ReadonlyArray<PeerId>, members: ReadonlyArray<ClusterMember>): boolean =>
  names.length === members.length && names.every((peer, index) => members[index]?.peer === peer)

const ownersWithin = (event: EventOf<"Planned">): boolean =>
  event.target.segments.every(({ owners }) => owners.every((peer) => event.members.includes(peer)))

/** The state after everybody who gains has gained; the same while somebody is missing. */
const finished = (state: ClusterState): ClusterState => {
  const { step } = state
  if (step === null) return state
  const isDone = gainersOf(state, step).every((peer) => step.gained.includes(peer))
  return isDone ? { ...state, current: step.target, step: null, sweep: nextSweep(state) } : state
}

const plan = (state: ClusterState, event: EventOf<"Planned">): Applied => {
  const { members, ordinal, target } = event
  const isMeant =
    state.step === null &&
    ordinal === state.ordinal + 1 &&
    target.epoch === ordinal &&
    target.factor === state.factor &&
    sameNames(members, activeMembers(state)) &&
    ownersWithin(event)
  if (!isMeant) {
    const message = `Plan ${ordinal} is not for the members and the step at hand; make it anew.`
    return refused(state, "other-plan", message)
  }
  return accepted(finished({ ...state, ordinal, step: { ordinal, target, gained: [] } }))
}

const gain = (state: ClusterState, event: EventOf<"Gained">): Applied => {
  const { ordinal, peer } = event
  if (!isMember(state, event)) return stranger(state, event)
  const { step } = state
  if (step === null || step.ordinal !== ordinal) {
    return refused(state, "other-plan", `Step ${ordinal} is not under way.`)
  }
  if (step.gained.includes(peer)) return unchanged(state)
  const gained = [...step.gained, peer].sort()
  return accepted(finished({ ...state, step: { ...step, gained } }))
}

const sweep = (state: ClusterState, event: EventOf<"Swept">): Applied => {
  const { peer, round } = event
  if (!isMember(state, event)) return stranger(state, event)
  if (round !== state.sweep.round) {
    return refused(state, "other-round", `Round ${round} of sweeping is not the present one.`)
  }
  return state.sweep.missing.includes(peer)
    ? accepted({ ...state, sweep: hasSwept(state.sweep, peer) })
    : unchanged(state)
}

/** Applies one event. */
export const applyEvent = (event: ClusterEvent, state: ClusterState): Applied => {
  switch (event._tag) {
    case "Joined":
      return join(state, event)
    case "Arrived":
      return isMember(state, event) ? accepted(state) : stranger(state, event)
    case "Leaving":
      return beginLeaving(state, lifeOf(event))
    case "Left":
      return goAway(state, lifeOf(event))
    case "Ejected":
      return eject(state, lifeOf(event))
    case "Planned":
      return plan(state, event)
    case "Gained":
      return gain(state, event)
    case "Swept":
      return sweep(state, event)
  }
}
