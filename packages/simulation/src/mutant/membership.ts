/** Mistakes about who belongs to a cluster of peers, and about keys that move. */
import type { CoreMutant } from "./core.ts"

/** All of them. */
export const membershipMutants: ReadonlyArray<CoreMutant> = [
  {
    name: "a step is done before its gainers hold their keys",
    profile: "members",
    edits: [
      {
        file: "core/cluster/src/apply.ts",
        from: "const isDone = gainersOf(state, step).every((peer) => step.gained.includes(peer))",
        to: "const isDone = true"
      }
    ]
  },
  {
    name: "a gainer says that it holds keys before it compared itself",
    profile: "members",
    edits: [
      {
        file: "services/peer/src/completeness.ts",
        from: "return this.#sourcesOf(gains).every((segment) => this.#isComplete(segment, ordinal))",
        to: "return gains.length + ordinal >= 0"
      }
    ]
  },
  {
    name: "a peer lets go of a partition before its owners hold it",
    profile: "members",
    edits: [
      {
        file: "services/peer/src/release.ts",
        from: 'if (owners.length === 0) return "unknown"',
        to: 'if (owners.length === 0) return "all"'
      },
      {
        file: "services/peer/src/release.ts",
        from: 'if (owners.every(hasAll)) return "all"',
        to: 'if (owners.every(hasAll) || behind.length >= 0) return "all"'
      }
    ]
  },
  {
    name: "a stale view lets go of keys that a plan has just given",
    profile: "members",
    edits: [
      {
        file: "services/peer/src/membership.ts",
        from: "return KeySet.union(keysHeldBy(this.#agreed, peer), keysHeldBy(this.#projected, peer))",
        to: "return keysHeldBy(this.#projected, peer)"
      }
    ]
  },
  {
    name: "an ejection counts only what was folded of the ejected",
    profile: "members",
    edits: [
      {
        file: "core/power-state/src/seal.ts",
        from: "mark = Math.max(mark, entry.ordinal)",
        to: "mark = Math.max(mark, 0)"
      }
    ]
  },
  {
    name: "an ejection is decided before all who are left have answered",
    profile: "members",
    edits: [
      {
        file: "core/power-state/src/seal.ts",
        from: "if (!survivors.every((survivor) => hasAnswered(state, ejected, survivor))) return state",
        to: "if (!survivors.some((survivor) => hasAnswered(state, ejected, survivor))) return state"
      }
    ]
  },
  {
    name: "a birth is confirmed before all members have swept",
    profile: "members",
    edits: [
      {
        file: "core/cluster/src/ownership.ts",
        from: "export const isSwept = ({ sweep }: ClusterState): boolean => sweep.missing.length === 0",
        to: "export const isSwept = ({ sweep }: ClusterState): boolean => sweep.round >= 0"
      }
    ]
  },
  {
    name: "a member says that it has swept without comparing itself",
    profile: "members",
    edits: [
      {
        file: "services/peer/src/sweep.ts",
        from: "  for (const other of completeness.notSwept()) {",
        to: "  for (const other of completeness.notSwept().slice(0, 0)) {"
      },
      {
        file: "services/peer/src/sweep.ts",
        from: "  if (held > 0 || !isMissing(membership.agreed) || completeness.notSwept().length > 0) return",
        to: "  if (!isMissing(membership.agreed)) return"
      }
    ]
  }
]
