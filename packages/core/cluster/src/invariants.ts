/** What must hold of every state of a cluster. */
import { invariants as distributionInvariants } from "@holdfast/keyspace"
import { activeMembers } from "./apply.ts"
import type { ClusterState } from "./cluster-state.ts"
import { NAMES_MAX } from "./member.ts"
import { gainersOf, memberOf, ownerLife } from "./ownership.ts"

/** Something that a state must never be, in words. */
export interface Violation {
  readonly invariant: string
  readonly detail: string
}

const ascends = (names: ReadonlyArray<{ readonly peer: string }>): boolean =>
  names.every(({ peer }, index) => index === 0 || (names[index - 1]?.peer ?? "") < peer)

const stepViolations = (state: ClusterState): ReadonlyArray<Violation> => {
  const { current, ordinal, step } = state
  const found: Array<Violation> = []
  if (current.epoch > ordinal) {
    found.push({ invariant: "3", detail: `epoch ${current.epoch} is above plan ${ordinal}` })
  }
  if (step === null) return found
  if (step.ordinal !== ordinal || step.target.epoch !== ordinal) {
    found.push({ invariant: "3", detail: `step ${step.ordinal} is not the last plan, ${ordinal}` })
  }
  const gainers = gainersOf(state, step)
  if (gainers.every((peer) => step.gained.includes(peer))) {
    found.push({ invariant: "2", detail: `step ${step.ordinal} is done and still under way` })
  }
  for (const peer of gainers) {
    if (memberOf(state, peer)?.phase !== "active") {
      found.push({ invariant: "2", detail: `${peer} gains keys and is no active member` })
    }
  }
  return found
}

/** Everything about a state that breaks its invariants; empty when all is well. */
export const invariants = (state: ClusterState): ReadonlyArray<Violation> => {
  const { current, gone, members, step } = state
  const found: Array<Violation> = [...stepViolations(state)]
  for (const distribution of step === null ? [current] : [current, step.target]) {
    found.push(...distributionInvariants(distribution))
  }
  for (const peer of new Set(current.segments.flatMap(({ owners }) => owners))) {
    if (ownerLife(state, peer) === null) {
      found.push({ invariant: "5", detail: `${peer} owns keys and was never a member` })
    }
  }
  if (!ascends(members) || !ascends(gone)) {
    found.push({ invariant: "7", detail: "the names do not ascend" })
  }
  for (const { incarnation, peer } of members) {
    const last = gone.find((one) => one.peer === peer)
    if (last !== undefined && last.incarnation >= incarnation) {
      found.push({ invariant: "4", detail: `${peer}.${incarnation} is gone and a member` })
    }
  }
  if (new Set([...members, ...gone].map(({ peer }) => peer)).size > NAMES_MAX) {
    found.push({ invariant: "7", detail: "there are too many names" })
  }
  for (const peer of state.sweep.missing) {
    if (memberOf(state, peer) === undefined) {
      found.push({ invariant: "6", detail: `${peer} is to sweep and is no member` })
    }
  }
  if (activeMembers(state).length === 0) {
    found.push({ invariant: "members", detail: "nobody is left to own the keys" })
  }
  return found
}
