/** Random scenarios for the memory network: what is asked, what goes wrong, and what was seen. */
import type { Messaging } from "@holdfast/messaging"
import { Clock, Effect, Fiber, Random, References } from "effect"
import { TestClock } from "effect/testing"
import * as fc from "fast-check"
import { MemoryNetwork } from "../memory-network.ts"
import {
  faultlessLink,
  type FaultPlan,
  type LinkFaults,
  type NetworkFault
} from "../network-fault.ts"
import type { NetworkEvent } from "../network-trace.ts"

/** The nodes of every scenario; each serves the subject `work.<node>`. */
export const nodes = ["a", "b", "c"] as const

/** One request of a scenario. */
export interface PlannedRequest {
  readonly atMillis: number
  readonly from: string
  readonly to: string
  readonly deadlineMillis: number
  /** How long its handler works, or that it dies. */
  readonly work: number | "die"
}

/** What a scenario does. */
export interface Scenario {
  readonly seed: number
  readonly concurrency: number
  readonly backlog: number
  readonly requests: ReadonlyArray<PlannedRequest>
  readonly faults: FaultPlan
}

/** What became of one request. */
export interface RequestOutcome {
  /** The reply's text, or the error's code. */
  readonly outcome: string
  readonly tookMillis: number
}

/** What was seen of a scenario. */
export interface Observation {
  readonly outcomes: ReadonlyArray<RequestOutcome>
  /** How often the handler of each request was entered. */
  readonly handled: ReadonlyMap<string, number>
  /** The most handlers of one node at a time. */
  readonly mostRunning: number
  /** What a request to each node became after everything healed. */
  readonly afterwards: ReadonlyArray<string>
  readonly events: ReadonlyArray<NetworkEvent>
}

const node = fc.constantFrom(...nodes)
const probability = fc.constantFrom(0, 0, 0.1, 0.5, 1)

const linkFaults: fc.Arbitrary<LinkFaults> = fc
  .record({
    loss: probability,
    duplication: probability,
    shortest: fc.nat({ max: 30 }),
    spread: fc.nat({ max: 60 }),
    reorder: probability
  })
  .map(({ shortest, spread, ...faults }) => ({
    ...faults,
    delayMillis: [shortest, shortest + spread]
  }))

const fault: fc.Arbitrary<NetworkFault> = fc.oneof(
  fc.record({
    _tag: fc.constant("Links" as const),
    faults: linkFaults,
    from: fc.option(node),
    to: fc.option(node)
  }),
  fc.record({ _tag: fc.constantFrom("Block" as const, "Unblock" as const), from: node, to: node }),
  fc.record({
    _tag: fc.constantFrom(
      "Crash" as const,
      "Stall" as const,
      "Resume" as const,
      "Disconnect" as const,
      "Reconnect" as const
    ),
    node
  }),
  node.map((alone): NetworkFault => ({
    _tag: "Partition",
    left: [alone],
    right: nodes.filter((other) => other !== alone)
  })),
  fc.constant<NetworkFault>({ _tag: "Heal" })
)

/** Scenarios of a few hundred milliseconds. */
export const scenarios: fc.Arbitrary<Scenario> = fc.record({
  seed: fc.nat(),
  concurrency: fc.integer({ min: 1, max: 3 }),
  backlog: fc.nat({ max: 3 }),
  requests: fc.array(
    fc.record({
      atMillis: fc.nat({ max: 300 }),
      from: node,
      to: node,
      deadlineMillis: fc.integer({ min: 1, max: 400 }),
      work: fc.oneof(fc.nat({ max: 80 }), fc.constant("die" as const))
    }),
    { minLength: 1, maxLength: 12 }
  ),
  faults: fc.array(fc.record({ afterMillis: fc.nat({ max: 80 }), fault }), { maxLength: 8 })
})

const encoder = new TextEncoder()
const decoder = new TextDecoder()

/** Counts what handlers do. */
const makeCounters = () => {
  const handled = new Map<string, number>()
  const running = new Map<string, number>()
  let mostRunning = 0
  return {
    handled,
    mostRunning: () => mostRunning,
    during: (name: string, request: string, work: Effect.Effect<void>) =>
      Effect.acquireUseRelease(
        Effect.sync(() => {
          const now = (running.get(name) ?? 0) + 1
          running.set(name, now)
          mostRunning = Math.max(mostRunning, now)
          handled.set(request, (handled.get(request) ?? 0) + 1)
        }),
        () => work,
        () => Effect.sync(() => running.set(name, (running.get(name) ?? 0) - 1))
      )
  }
}

type Counters = ReturnType<typeof makeCounters>

/** Starts a node's service; it lives until its scope closes or its node crashes. */
const startNode = Effect.fnUntraced(function* (
  network: MemoryNetwork,
  name: string,
  scenario: Scenario,
  counters: Counters
) {
  const messaging = yield* network.endpoint(name)
  const { concurrency, backlog } = scenario
  yield* messaging.serve({ subject: `work.${name}`, concurrency, backlog }, (message) => {
    const request = decoder.decode(message.data)
    const work = scenario.requests[Number(request)]?.work ?? 0
    const act = work === "die" ? Effect.die("as the scenario wants it") : Effect.sleep(work)
    const reply = { headers: {}, data: encoder.encode(`re ${request}`) }
    return Effect.as(counters.during(name, request, act), reply)
  })
  return messaging
})

const ask = (messaging: Messaging["Service"], to: string, text: string, deadline: number) =>
  messaging.request({ subject: `work.${to}`, data: encoder.encode(text), deadline }).pipe(
    Effect.match({
      onFailure: (error): string => error.code,
      onSuccess: (reply) => decoder.decode(reply.data)
    })
  )

/** Runs a scenario under virtual time; everything it does follows from the scenario. */
const observe = Effect.fnUntraced(function* (scenario: Scenario) {
  const network = yield* MemoryNetwork.make()
  const counters = makeCounters()
  const services = new Map<string, Messaging["Service"]>()
  const start = (name: string) =>
    Effect.map(startNode(network, name, scenario, counters), (messaging) =>
      services.set(name, messaging)
    )
  yield* Effect.forEach(nodes, start)
  const asking = yield* Effect.forEach(scenario.requests, (planned, index) =>
    Effect.forkChild(
      Effect.gen(function* () {
        yield* Effect.sleep(planned.atMillis)
        const began = yield* Clock.currentTimeMillis
        const messaging = services.get(planned.from)
        if (messaging === undefined) return { outcome: "no service", tookMillis: 0 }
        const outcome = yield* ask(messaging, planned.to, String(index), planned.deadlineMillis)
        return { outcome, tookMillis: (yield* Clock.currentTimeMillis) - began }
      })
    )
  )
  const failing = yield* Effect.forkChild(
    Effect.forEach(scenario.faults, (step) =>
      Effect.gen(function* () {
        yield* network.follow([step])
        if (step.fault._tag === "Crash") yield* start(step.fault.node)
      })
    )
  )
  yield* TestClock.adjust("2 seconds")
  yield* Fiber.join(failing)
  const outcomes = yield* Effect.forEach(asking, Fiber.join)
  const afterwards = yield* probe(network, services)
  return {
    outcomes,
    handled: counters.handled,
    mostRunning: counters.mostRunning(),
    afterwards,
    events: yield* network.events
  }
})

/** Heals everything, lets what is held arrive, and asks every node once. */
const probe = Effect.fnUntraced(function* (
  network: MemoryNetwork,
  services: ReadonlyMap<string, Messaging["Service"]>
) {
  yield* network.apply({ _tag: "Heal" })
  const ends = [null, ...nodes]
  for (const from of ends) {
    for (const to of ends) {
      yield* network.apply({ _tag: "Links", faults: faultlessLink, from, to })
    }
  }
  for (const name of nodes) {
    yield* network.apply({ _tag: "Resume", node: name })
    yield* network.apply({ _tag: "Reconnect", node: name })
  }
  yield* TestClock.adjust("1 second")
  const asking = yield* Effect.forEach([...services.values()], (messaging, index) =>
    Effect.forkChild(ask(messaging, nodes[index] ?? "a", "probe", 1_000))
  )
  yield* TestClock.adjust("1 second")
  return yield* Effect.forEach(asking, Fiber.join)
})

/** Runs a scenario from its own seed, with its own clock. */
export const runScenario = (scenario: Scenario): Promise<Observation> =>
  Effect.runPromise(
    observe(scenario).pipe(
      Effect.scoped,
      Effect.provide(TestClock.layer()),
      Effect.provideService(References.MinimumLogLevel, "None"),
      Random.withSeed(scenario.seed)
    )
  )
