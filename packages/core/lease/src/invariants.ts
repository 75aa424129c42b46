/** What must hold between two sights of the same claims: tests and the simulator ask it. */
import { Option } from "effect"
import type { ClaimTable } from "./claim.ts"

/** A rule that does not hold, in words, with what was found. */
export interface Violation {
  readonly rule: string
  readonly found: string
}

/** The rules that two successive sights of one store break; none in a sound one. */
export const invariants = (before: ClaimTable, after: ClaimTable): ReadonlyArray<Violation> => {
  const violations: Array<Violation> = []
  for (const [shard, { record: now, revision }] of after) {
    const earlier = before.get(shard)
    if (earlier === undefined) continue
    const was = earlier.record
    const found = `${shard}: epoch ${was.epoch} beat ${was.beat}, then ${now.epoch} ${now.beat}`
    const check = (holds: boolean, rule: string): void => {
      if (!holds) violations.push({ rule, found })
    }
    const owner = Option.getOrUndefined(now.owner)
    const isSameOwner = owner === Option.getOrUndefined(was.owner)
    check(revision >= earlier.revision, "revisions do not fall")
    check(now.epoch >= was.epoch, "epochs do not fall")
    check(now.beat >= was.beat, "beats do not fall")
    check(
      isSameOwner || owner === undefined || now.epoch > was.epoch,
      "a change of owner raises the epoch"
    )
  }
  return violations
}
