/**
 * What the members of a cluster agree on.
 *
 *     members ──▶ plan ──▶ step { target, gained } ──▶ all who gain have it ──▶ current := target
 *                            ▲ an ejection, or a gainer that leaves, ends it: a new plan follows
 *     current := target ──▶ sweep { round, missing } ──▶ all have swept ──▶ births are confirmed
 *
 * 1. `current` says where the data is: requests and searches go by it. `target` says who else must
 *    hear of each change until the step is done.
 * 2. `current` changes only to a target whose every gainer has said that it holds its keys.
 * 3. Ordinals of steps rise by one with each plan; `current.epoch` is that of the last one done.
 * 4. A life that is gone is no member again; its name may come back in a later life.
 * 5. An owner by `current` is a member, or was one when that distribution began and is gone: the
 *    name stands for one life all the time.
 * 6. A sweep begins with each distribution, and anew with an ejection before it is done. A member
 *    has swept when it creates nothing by an earlier distribution any more, and the owners of each
 *    key know of whatever it ever held. So once all have swept, each owner knows the first birth of
 *    each of its keys; who is ejected later brings no other.
 * 7. Names are at most `NAMES_MAX`; each stands once, as a member or as gone, or as both when a
 *    later life of it joined.
 */
import { distribute, Distribution, FACTOR_MAX, PeerId } from "@holdfast/keyspace"
import type { Member, MembersRefused } from "@holdfast/keyspace"
import { Effect, Result, Schema } from "effect"
import { ClusterMember, GoneMember } from "./member.ts"

/** Keys on their way to those who gain them. */
export const Step = Schema.Struct({
  ordinal: Schema.Natural,
  target: Distribution,
  /** Those of the gainers who hold all that they gain. */
  gained: Schema.Array(PeerId)
})
/** Keys on their way to those who gain them. */
export type Step = typeof Step.Type

/** The members make sure that no birth by an earlier distribution is unknown to the owners. */
export const Sweep = Schema.Struct({
  round: Schema.Natural,
  /** Sorted: those who have not said yet that they have swept. */
  missing: Schema.Array(PeerId)
})
/** The members make sure that no birth by an earlier distribution is unknown to the owners. */
export type Sweep = typeof Sweep.Type

const nothingToSweep: Sweep = { round: 0, missing: [] }

/** What the members agree on. */
export const ClusterState = Schema.Struct({
  version: Schema.Literal(1),
  factor: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: FACTOR_MAX })),
  /** Sorted by name. */
  members: Schema.Array(ClusterMember),
  /** Sorted by name. */
  gone: Schema.Array(GoneMember),
  /** Of the last plan. */
  ordinal: Schema.Natural,
  current: Distribution,
  step: Schema.NullOr(Step),
  /** States that were stored before there were sweeps have nothing to sweep. */
  sweep: Sweep.pipe(Schema.withDecodingDefaultKey(Effect.succeed(nothingToSweep)))
})
/** What the members agree on. */
export type ClusterState = typeof ClusterState.Type

/** A cluster as it is founded: its founders own all keys, each in its first life. */
export const foundCluster = (options: {
  readonly founders: ReadonlyArray<Member>
  readonly factor?: number
}): Result.Result<ClusterState, MembersRefused> =>
  Result.map(
    distribute({
      members: options.founders,
      epoch: 0,
      ...(options.factor === undefined ? {} : { factor: options.factor })
    }),
    (current): ClusterState => ({
      version: 1,
      factor: current.factor,
      members: options.founders
        .map(({ peer, weight = 1, zone }): ClusterMember => ({
          peer,
          incarnation: 0,
          weight,
          ...(zone === undefined ? {} : { zone }),
          phase: "active"
        }))
        .sort(byName),
      gone: [],
      ordinal: 0,
      current,
      step: null,
      sweep: nothingToSweep
    })
  )

/** The order of lists of members. */
export const byName = (left: { readonly peer: PeerId }, right: { readonly peer: PeerId }): number =>
  left.peer < right.peer ? -1 : left.peer > right.peer ? 1 : 0
