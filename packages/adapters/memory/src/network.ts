/** What the parts of a memory network share: its nodes, its listeners, its links. */
import type { Random } from "effect"
import type { Links } from "./links.ts"
import type { ListenerTable } from "./listener-table.ts"
import type { Listener } from "./listener.ts"
import type { NetworkEvent } from "./network-trace.ts"

/** A node's endpoint as the network steers it. */
export interface NodeEndpoint {
  /** Ends everything at once: handlers are interrupted, requests end. */
  readonly crash: () => void
  /** Looks again whether the node is connected. */
  readonly connectionChanged: () => void
}

/** A node by its name; it has as many endpoints as layers were built for it. */
export interface Node {
  readonly name: string
  isConnected: boolean
  readonly endpoints: Set<NodeEndpoint>
}

/** The state that endpoints share. */
export interface Network {
  readonly links: Links
  readonly random: Random.Random
  readonly maxPayloadBytes: number
  readonly listeners: ListenerTable
  readonly node: (name: string) => Node
  readonly note: (event: Omit<NetworkEvent, "at">) => void
  nextMessage: number
}

/**
 * Who gets a message of this subject: every listener without a queue, and one of each queue group,
 * drawn by chance when there is more than one. In order of listening.
 */
export const route = (network: Network, subject: string): ReadonlyArray<Listener> => {
  const alone: Array<Listener> = []
  const groups = new Map<string, Array<Listener>>()
  for (const listener of network.listeners.matching(subject)) {
    const { options, node } = listener
    if (!network.node(node).isConnected) continue
    if (options.queue === undefined) {
      alone.push(listener)
    } else {
      const group = groups.get(options.queue)
      if (group === undefined) groups.set(options.queue, [listener])
      else group.push(listener)
    }
  }
  for (const group of groups.values()) {
    const index =
      group.length === 1 ? 0 : Math.floor(network.random.nextDoubleUnsafe() * group.length)
    const chosen = group[index]
    if (chosen !== undefined) alone.push(chosen)
  }
  return alone
}
