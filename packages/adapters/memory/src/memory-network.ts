/**
 * A network in one process: any number of nodes that exchange control messages, with faults.
 *
 *     node-1 ── endpoint ──▶ links (loss, delay, partition, ...) ──▶ listener ── node-2
 *            ◀──────────────────────── reply ──────────────────────
 *
 * 1. Without faults every message arrives once, at once, in the order of sending.
 * 2. The clock and the randomness are those of the fiber that made the network: under a test clock
 *    and one seed, the same calls give the same trace.
 * 3. A request reaches every listener of its subject, one of each queue group; the first reply
 *    wins.
 * 4. A crashed node's listeners are gone, its handlers are interrupted, its requests end `closed`;
 *    a new endpoint of the same name starts afresh.
 */
import { Messaging } from "@holdfast/messaging"
import { Clock, Context, Effect, Layer, Random, Scope } from "effect"
import { makeLinkRules } from "./link-rules.ts"
import { makeLinks } from "./links.ts"
import { makeListenerTable } from "./listener-table.ts"
import { makeEndpoint } from "./memory-messaging.ts"
import type { FaultPlan, NetworkFault } from "./network-fault.ts"
import type { Network, Node } from "./network.ts"
import { makeNetworkTrace, type NetworkCounters, type NetworkEvent } from "./network-trace.ts"

/** Bounds of a network; each has a default. */
export interface MemoryNetworkOptions {
  /** The largest payload, headers included; 1 MiB as a NATS server has it. */
  readonly maxPayloadBytes?: number
  /** The newest events that the trace keeps; 4,096. */
  readonly traceEventsMax?: number
  /** Messages that a stalled node holds before more are lost; 4,096. */
  readonly heldMax?: number
  /** Messages that delays keep on the way before more are lost; 65,536. */
  readonly onTheWayMax?: number
  /** Told of every event as it happens; the trace keeps the newest only. */
  readonly observe?: (event: NetworkEvent) => void
}

/** A network that services share in a test or a simulation. */
export interface MemoryNetwork {
  /** The Messaging of a node, until the scope closes; a node may have several. */
  readonly endpoint: (node: string) => Effect.Effect<Messaging["Service"], never, Scope.Scope>
  /** Changes the network now. */
  readonly apply: (fault: NetworkFault) => Effect.Effect<void>
  /** Applies a plan's faults at their times, in the calling fiber. */
  readonly follow: (plan: FaultPlan) => Effect.Effect<void>
  /** The newest events, oldest first. */
  readonly events: Effect.Effect<ReadonlyArray<NetworkEvent>>
  /** What other adapters of this package build on: nodes, links, faults. */
  readonly internals: Network
  /** How often each kind of event happened. */
  readonly counters: Effect.Effect<NetworkCounters>
}

const make = Effect.fnUntraced(function* (options: MemoryNetworkOptions = {}) {
  const clock = yield* Clock.Clock
  const scope = yield* Scope.Scope
  const context = Context.omit(Scope.Scope)(yield* Effect.context<Scope.Scope>())
  const seed = yield* Random.nextInt
  const origin = clock.monotonicTimeNanosUnsafe()
  const random = yield* Random.Random.pipe(Random.withSeed(seed))
  const trace = makeNetworkTrace(options.traceEventsMax ?? 4_096, options.observe)
  const links = makeLinks({
    clock,
    random,
    rules: makeLinkRules(),
    trace,
    origin,
    heldMax: options.heldMax ?? 4_096,
    onTheWayMax: options.onTheWayMax ?? 65_536,
    wakeAfter: (millis, wake) => {
      const sleeper = Effect.andThen(Effect.sleep(millis), Effect.sync(wake))
      Effect.runForkWith(context)(Effect.forkIn(sleeper, scope))
    }
  })
  const nodes = new Map<string, Node>()
  const network: Network = {
    links,
    random,
    maxPayloadBytes: options.maxPayloadBytes ?? 1_048_576,
    listeners: makeListenerTable(),
    node: (name) => {
      const known = nodes.get(name)
      if (known !== undefined) return known
      const node: Node = { name, isConnected: true, endpoints: new Set() }
      nodes.set(name, node)
      return node
    },
    nextMessage: 1,
    note: (event) => trace.add({ ...event, at: clock.monotonicTimeNanosUnsafe() - origin })
  }
  const apply = (fault: NetworkFault) => Effect.sync(() => applyFault(network, fault))
  const memoryNetwork: MemoryNetwork = {
    endpoint: (name) => makeEndpoint(network, network.node(name)),
    internals: network,
    apply,
    follow: (plan) =>
      Effect.forEach(
        plan,
        ({ afterMillis, fault }) => Effect.andThen(Effect.sleep(afterMillis), apply(fault)),
        { discard: true }
      ),
    events: Effect.sync(trace.events),
    counters: Effect.sync(trace.counters)
  }
  return memoryNetwork
})

const setConnected = (node: Node, isConnected: boolean): void => {
  node.isConnected = isConnected
  for (const endpoint of node.endpoints) endpoint.connectionChanged()
}

const crash = (network: Network, node: Node): void => {
  for (const endpoint of node.endpoints) endpoint.crash()
  node.endpoints.clear()
  node.isConnected = true
  network.links.resume(node.name)
}

const applyFault = (network: Network, fault: NetworkFault): void => {
  const { links } = network
  const { rules } = links
  network.note({ kind: "fault", from: "", to: "", subject: JSON.stringify(fault), message: 0 })
  switch (fault._tag) {
    case "Links":
      return rules.setFaults(fault.faults, fault.from, fault.to)
    case "Block":
      return rules.block(fault.from, fault.to)
    case "Unblock":
      return rules.unblock(fault.from, fault.to)
    case "Partition":
      for (const left of fault.left) {
        for (const right of fault.right) {
          rules.block(left, right)
          rules.block(right, left)
        }
      }
      return
    case "Heal":
      return rules.unblockAll()
    case "Crash":
      return crash(network, network.node(fault.node))
    case "Stall":
      return links.stall(fault.node)
    case "Resume":
      return links.resume(fault.node)
    case "Disconnect":
      return setConnected(network.node(fault.node), false)
    case "Reconnect":
      return setConnected(network.node(fault.node), true)
  }
}

/** Makes networks, and layers of their nodes. */
export const MemoryNetwork = {
  /** A network without faults, until the scope closes. */
  make,
  /** A node's Messaging on a network. */
  layer: (network: MemoryNetwork, node: string): Layer.Layer<Messaging> =>
    Layer.effect(Messaging, network.endpoint(node)),
  /** A node's Messaging on a network of its own, for a service that is tested alone. */
  layerAlone: (options: MemoryNetworkOptions = {}): Layer.Layer<Messaging> =>
    Layer.effect(
      Messaging,
      Effect.flatMap(make(options), (network) => network.endpoint("alone"))
    )
}
