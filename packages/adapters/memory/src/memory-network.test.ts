import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Ref, Scope } from "effect"
import { TestClock } from "effect/testing"
import { MemoryNetwork } from "./memory-network.ts"
import { faultlessLink, type LinkFaults } from "./network-fault.ts"

const text = (value: string) => new TextEncoder().encode(value)
const decoder = new TextDecoder()

/** A network with a node that takes notes and answers, and one that tells it things. */
const makePair = (options: Parameters<typeof MemoryNetwork.make>[0] = {}) =>
  Effect.gen(function* () {
    const network = yield* MemoryNetwork.make(options)
    const taken = yield* Ref.make<ReadonlyArray<string>>([])
    const keep = (data: Uint8Array) => Ref.update(taken, (all) => [...all, decoder.decode(data)])
    const taker = yield* network.endpoint("taker")
    const listening = { concurrency: 1, backlog: 64 }
    yield* taker.subscribe({ subject: "note", ...listening }, ({ data }) => keep(data))
    yield* taker.serve({ subject: "ask", ...listening }, ({ data }) =>
      Effect.as(keep(data), { headers: {}, data: text("yes") })
    )
    const teller = yield* network.endpoint("teller")
    const tell = (...notes: ReadonlyArray<string>) =>
      Effect.forEach(notes, (note) => teller.publish({ subject: "note", data: text(note) }))
    const ask = (what: string) =>
      teller.request({ subject: "ask", data: text(what), deadline: "1 second" }).pipe(
        Effect.match({
          onFailure: (error): string => error.code,
          onSuccess: (reply) => decoder.decode(reply.data)
        })
      )
    const links = (faults: Partial<LinkFaults>, from: string | null = null) =>
      network.apply({ _tag: "Links", faults: { ...faultlessLink, ...faults }, from, to: null })
    return { network, teller, taker, tell, ask, links, taken: Ref.get(taken) }
  })

/** Lets everything that is due happen, and the fibers that it woke do what they can. */
const settle = Effect.andThen(
  TestClock.adjust("1 second"),
  Effect.repeat(Effect.yieldNow, { times: 200 })
)

/** Lets the clock run while something that takes virtual time happens. */
const inTime = <A, E, R>(act: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const fiber = yield* Effect.forkChild(act, { startImmediately: true })
    yield* TestClock.adjust("5 seconds")
    return yield* Fiber.join(fiber)
  })

describe("a memory network", () => {
  it.effect("loses what a one-way partition stops, this way only", () =>
    Effect.gen(function* () {
      const { network, ask, taken } = yield* makePair()
      yield* network.apply({ _tag: "Block", from: "taker", to: "teller" })
      assert.strictEqual(yield* inTime(ask("reply stopped")), "timeout")
      yield* network.apply({ _tag: "Block", from: "teller", to: "taker" })
      yield* network.apply({ _tag: "Unblock", from: "taker", to: "teller" })
      assert.strictEqual(yield* inTime(ask("request stopped")), "timeout")
      yield* network.apply({ _tag: "Heal" })
      assert.strictEqual(yield* ask("through"), "yes")
      assert.deepStrictEqual(yield* taken, ["reply stopped", "through"])
    })
  )

  it.effect("keeps the order of a link under delays, unless a message may be overtaken", () =>
    Effect.gen(function* () {
      const { tell, links, taken } = yield* makePair()
      const notes = Array.from({ length: 20 }, (_, index) => String(index))
      yield* links({ delayMillis: [0, 50] })
      yield* tell(...notes)
      yield* settle
      assert.deepStrictEqual(yield* taken, notes)
      yield* links({ delayMillis: [0, 50], reorder: 1 })
      yield* tell(...notes)
      yield* settle
      const again = (yield* taken).slice(20)
      assert.notDeepEqual(again, notes)
      assert.deepStrictEqual(new Set(again), new Set(notes))
    })
  )

  it.effect("delivers twice what it duplicates; a reply that comes twice is taken once", () =>
    Effect.gen(function* () {
      const { tell, ask, links, taken } = yield* makePair()
      yield* links({ duplication: 1 })
      yield* tell("note")
      assert.strictEqual(yield* ask("question"), "yes")
      yield* settle
      const all = [...(yield* taken)].sort()
      assert.deepStrictEqual(all, ["note", "note", "question", "question"])
    })
  )

  it.effect("holds what enters and leaves a stalled node, and passes it on in order", () =>
    Effect.gen(function* () {
      const { network, tell, taken } = yield* makePair({ heldMax: 3 })
      yield* network.apply({ _tag: "Stall", node: "taker" })
      yield* tell("a", "b", "c", "lost")
      yield* settle
      assert.deepStrictEqual(yield* taken, [])
      yield* network.apply({ _tag: "Resume", node: "taker" })
      yield* network.apply({ _tag: "Stall", node: "teller" })
      yield* tell("d", "e")
      yield* network.apply({ _tag: "Resume", node: "teller" })
      yield* settle
      assert.deepStrictEqual(yield* taken, ["a", "b", "c", "d", "e"])
      const { held, lost } = yield* network.counters
      assert.deepStrictEqual([held, lost], [5, 1])
    })
  )

  it.effect("loses messages past the bound of those on the way", () =>
    Effect.gen(function* () {
      const { network, tell, links, taken } = yield* makePair({ onTheWayMax: 2 })
      yield* links({ delayMillis: [10, 10] })
      yield* tell("a", "b", "lost")
      yield* settle
      assert.deepStrictEqual([yield* taken, (yield* network.counters).lost], [["a", "b"], 1])
    })
  )

  it.effect("the closest rule holds for a link: both ends, the sender, the receiver, any", () =>
    Effect.gen(function* () {
      const { network, tell, links, taken } = yield* makePair()
      yield* links({ loss: 1 })
      yield* tell("lost")
      yield* links({}, "teller")
      yield* tell("through")
      const faults = { ...faultlessLink, loss: 1 }
      yield* network.apply({ _tag: "Links", faults, from: "teller", to: "taker" })
      yield* tell("lost again")
      yield* settle
      assert.deepStrictEqual(yield* taken, ["through"])
    })
  )

  it.effect("a crash ends a node's requests and handlers; a new endpoint starts afresh", () =>
    Effect.gen(function* () {
      const network = yield* MemoryNetwork.make()
      const entered = yield* Deferred.make<void>()
      const interrupted = yield* Deferred.make<void>()
      const scope = yield* Scope.make()
      const old = yield* Scope.provide(network.endpoint("server"), scope)
      const listening = { subject: "work", concurrency: 1, backlog: 1 }
      const handler = Effect.andThen(Deferred.succeed(entered, undefined), Effect.never)
      yield* old
        .serve(listening, () =>
          Effect.onInterrupt(handler, () => Deferred.succeed(interrupted, undefined))
        )
        .pipe(Scope.provide(scope))
      const client = yield* network.endpoint("client")
      const request = { subject: "work", data: text(""), deadline: "1 second" } as const
      const codeOf = (messaging: typeof client) =>
        Effect.map(Effect.flip(messaging.request(request)), (error) => error.code)
      const asking = yield* Effect.forkChild(codeOf(client), { startImmediately: true })
      const own = yield* Effect.forkChild(codeOf(old), { startImmediately: true })
      yield* Deferred.await(entered)
      yield* network.apply({ _tag: "Crash", node: "server" })
      yield* Deferred.await(interrupted)
      assert.strictEqual(yield* Fiber.join(own), "closed")
      assert.strictEqual(yield* codeOf(client), "no-responders")
      assert.strictEqual(yield* codeOf(old), "closed")
      yield* settle
      assert.strictEqual(yield* Fiber.join(asking), "timeout")
      yield* Scope.close(scope, Exit.void)
      const fresh = yield* network.endpoint("server")
      yield* fresh.serve(listening, () => Effect.succeed({ headers: {}, data: text("back") }))
      assert.strictEqual(decoder.decode((yield* client.request(request)).data), "back")
    })
  )

  it.effect("the trace keeps the newest events and counts all", () =>
    Effect.gen(function* () {
      const { network, tell } = yield* makePair({ traceEventsMax: 4 })
      yield* tell(...Array.from({ length: 50 }, (_, index) => String(index)))
      const events = yield* network.events
      assert.deepStrictEqual(
        events.map(({ kind, message }) => `${kind} ${message}`),
        ["publish 49", "delivered 49", "publish 50", "delivered 50"]
      )
      assert.strictEqual((yield* network.counters).publish, 50)
    })
  )
})
