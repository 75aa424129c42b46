/** What holds for each link of a memory network: its faults, and whether it is blocked. */
import { faultlessLink, type LinkFaults } from "./network-fault.ts"

/** The rules of all links; each direction of a link has its own. */
export interface LinkRules {
  /** The closest rule: for both ends, for the sender, for the receiver, for all, or no fault. */
  readonly faultsOf: (from: string, to: string) => LinkFaults
  /** Sets a rule; null stands for any node. */
  readonly setFaults: (faults: LinkFaults, from: string | null, to: string | null) => void
  readonly isBlocked: (from: string, to: string) => boolean
  readonly block: (from: string, to: string) => void
  readonly unblock: (from: string, to: string) => void
  readonly unblockAll: () => void
}

/** A link's name; null stands for any node. */
export const linkName = (from: string | null, to: string | null): string =>
  JSON.stringify([from, to])

/** Makes rules under which nothing fails. */
export const makeLinkRules = (): LinkRules => {
  const faults = new Map<string, LinkFaults>()
  const blocked = new Set<string>()
  return {
    faultsOf: (from, to) =>
      faults.get(linkName(from, to)) ??
      faults.get(linkName(from, null)) ??
      faults.get(linkName(null, to)) ??
      faults.get(linkName(null, null)) ??
      faultlessLink,
    setFaults: (linkFaults, from, to) => {
      faults.set(linkName(from, to), linkFaults)
    },
    isBlocked: (from, to) => blocked.has(linkName(from, to)),
    block: (from, to) => {
      if (from !== to) blocked.add(linkName(from, to))
    },
    unblock: (from, to) => {
      blocked.delete(linkName(from, to))
    },
    unblockAll: () => blocked.clear()
  }
}
