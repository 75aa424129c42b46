/** Random histories of a cluster: what happens to it, drawn from numbers, and what follows. */
import { PeerId } from "@holdfast/keyspace"
import { Option, Result } from "effect"
import {
  applyEvent,
  type ClusterEvent,
  type ClusterOutput,
  type ClusterState,
  foundCluster,
  gainersOf,
  mayGo,
  memberOf,
  nextIncarnation,
  nextPlan
} from "../index.ts"

/** The name of the n-th peer. */
export const peerOf = (n: number): PeerId => PeerId.make(`p${n}`)

/** A cluster of the first `count` peers. */
export const founded = (count: number, factor = 3): ClusterState =>
  Result.getOrThrow(
    foundCluster({
      founders: Array.from({ length: count }, (_, n) => ({ peer: peerOf(n) })),
      factor
    })
  )

/** Applies an event that must be accepted. */
export const accept = (state: ClusterState, event: ClusterEvent): ClusterState => {
  const applied = applyEvent(event, state)
  if (applied.output._tag !== "Accepted") throw new Error(JSON.stringify(applied.output))
  return applied.state
}

/** The output of an event that must change nothing. */
export const outputOf = (state: ClusterState, event: ClusterEvent): ClusterOutput => {
  const applied = applyEvent(event, state)
  if (applied.state !== state) throw new Error(`${event._tag} changed the state`)
  return applied.output
}

/** The life in which a name is, or could be, a member. */
export const lifeOf = (state: ClusterState, peer: PeerId) => ({
  peer,
  incarnation: memberOf(state, peer)?.incarnation ?? nextIncarnation(state, peer)
})

/** Joins a peer with a weight. */
export const joined = (state: ClusterState, n: number, weight = 1): ClusterEvent => ({
  _tag: "Joined",
  ...lifeOf(state, peerOf(n)),
  weight
})

/** A peer has swept, in the round at hand. */
export const swept = (state: ClusterState, peer: PeerId): ClusterEvent => ({
  _tag: "Swept",
  ...lifeOf(state, peer),
  round: state.sweep.round
})

/** What the members do by themselves next; none when the cluster is settled. */
export const ownMove = (state: ClusterState): Option.Option<ClusterEvent> => {
  const { step } = state
  if (step !== null) {
    const peer = gainersOf(state, step).find((each) => !step.gained.includes(each))
    return Option.map(Option.fromUndefinedOr(peer), (gainer) => ({
      _tag: "Gained",
      ...lifeOf(state, gainer),
      ordinal: step.ordinal
    }))
  }
  const [sweeper] = state.sweep.missing
  if (sweeper !== undefined) return Option.some(swept(state, sweeper))
  const planned = nextPlan(state)
  if (Option.isSome(planned)) return planned
  const leaver = state.members.find(({ peer }) => mayGo(state, peer))
  return Option.map(Option.fromUndefinedOr(leaver), ({ peer }) => ({
    _tag: "Left",
    ...lifeOf(state, peer)
  }))
}

/** Lets the members do what is left to do; throws when that does not end. */
export const settle = (
  state: ClusterState,
  visit: (state: ClusterState) => void = () => undefined
): ClusterState => {
  let next = state
  for (let moves = 0; moves < 200; moves += 1) {
    const move = ownMove(next)
    if (Option.isNone(move)) return next
    next = accept(next, move.value)
    visit(next)
  }
  throw new Error("the cluster does not come to rest")
}

const happenings: ReadonlyArray<(state: ClusterState, who: number) => ClusterEvent> = [
  (state, who) => joined(state, who, 1 + (who % 3)),
  (state, who) => ({ _tag: "Leaving", ...lifeOf(state, peerOf(who)) }),
  (state, who) => ({ _tag: "Ejected", ...lifeOf(state, peerOf(who)) }),
  (state, who) => ({ _tag: "Left", ...lifeOf(state, peerOf(who)) }),
  (state, who) => ({ _tag: "Gained", ...lifeOf(state, peerOf(who)), ordinal: state.ordinal }),
  (state, who) => ({ _tag: "Arrived", ...lifeOf(state, peerOf(who)) }),
  (state, who) => swept(state, peerOf(who)),
  (_, who) => ({ _tag: "Joined", peer: peerOf(who), incarnation: 0, weight: 1 }),
  (state, who) => Option.getOrElse(ownMove(state), () => joined(state, who)),
  (state, who) => Option.getOrElse(ownMove(state), () => joined(state, who))
]

/** One thing that happens, out of any two numbers. */
export const happening = (
  state: ClusterState,
  [kind, who]: readonly [number, number]
): ClusterEvent => {
  const make = happenings[kind % happenings.length] ?? joined
  return make(state, who)
}
