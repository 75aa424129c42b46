/**
 * Makes a plan smaller that still breaks what it broke: first halves, then ever smaller parts, then
 * single faults (delta debugging, Zeller and Hildebrandt 2002).
 */
import type { FaultPlan } from "./fault.ts"

/**
 * The smallest plan that was found for which `stillBreaks` holds; tries at most `triesMax` plans.
 * It is called with subsets of the plan only.
 */
export const shrinkPlan = (
  plan: FaultPlan,
  stillBreaks: (smaller: FaultPlan) => boolean,
  triesMax: number
): FaultPlan => {
  let smallest = plan
  let tries = 0
  const attempt = (smaller: FaultPlan): boolean => {
    if (tries >= triesMax) return false
    tries += 1
    if (!stillBreaks(smaller)) return false
    smallest = smaller
    return true
  }
  if (plan.length > 0 && attempt([])) return smallest
  /** Leaves out each part of a size in turn; answers whether any could go. */
  const dropParts = (size: number): boolean => {
    const before = smallest.length
    for (let start = 0; start < smallest.length && smallest.length > 1;) {
      const without = smallest.filter((_, index) => index < start || index >= start + size)
      if (!attempt(without)) start += size
    }
    return smallest.length < before
  }
  for (let size = Math.ceil(smallest.length / 2); size > 1; size = Math.ceil(size / 2)) {
    dropParts(size)
  }
  while (dropParts(1)) continue
  return smallest
}
