/** The Messaging contract's limits: payload size, backlog, and handlers that die. */
import { assert, it } from "@effect/vitest"
import type { Messaging } from "@holdfast/messaging"
import { Deferred, Effect, Fiber, Ref, References } from "effect"
import type { MessagingContract } from "./messaging-contract.ts"
import {
  bytes,
  freshSubject,
  isAnswered,
  openEndpoints,
  request,
  text
} from "./messaging-endpoints.ts"

/** Promises 3, 4 and 6, and refusals of what cannot be sent. */
export const describeMessagingLimits = (contract: MessagingContract): void => {
  describePayload(contract)
  describeRefusals(contract)
  describeBacklog(contract)
  describeFailures(contract)
}

const describePayload = (contract: MessagingContract): void => {
  it.live("3: a message over maxPayloadBytes is refused before anything is sent", () =>
    Effect.gen(function* () {
      const { requester, responder } = yield* openEndpoints(contract)
      const subject = freshSubject()
      const handled = yield* Ref.make(0)
      yield* responder.serve({ subject, concurrency: 1, backlog: 1 }, () =>
        Effect.as(
          Ref.update(handled, (count) => count + 1),
          { headers: {}, data: bytes("") }
        )
      )
      const data = new Uint8Array(requester.maxPayloadBytes + 1)
      const asked = yield* Effect.flip(requester.request({ subject, data, deadline: "5 seconds" }))
      const published = yield* Effect.flip(requester.publish({ subject, data }))
      assert.deepStrictEqual([asked.code, published.code], ["too-large", "too-large"])
      yield* request(requester, subject, "x", "5 seconds")
      assert.strictEqual(yield* Ref.get(handled), 1)
    })
  )

  it.live("3: headers count towards the limit", () =>
    Effect.gen(function* () {
      const { requester } = yield* openEndpoints(contract)
      const error = yield* Effect.flip(
        requester.publish({
          subject: freshSubject(),
          headers: { "x-header": "value" },
          data: new Uint8Array(requester.maxPayloadBytes)
        })
      )
      assert.strictEqual(error.code, "too-large")
    })
  )

  it.live("3: a payload of exactly maxPayloadBytes travels", () =>
    Effect.gen(function* () {
      const { requester, responder } = yield* openEndpoints(contract)
      const subject = freshSubject()
      yield* responder.serve({ subject, concurrency: 1, backlog: 1 }, (message) =>
        Effect.succeed({ headers: {}, data: bytes(String(message.data.length)) })
      )
      const data = new Uint8Array(requester.maxPayloadBytes)
      const reply = yield* requester.request({ subject, data, deadline: "10 seconds" })
      assert.strictEqual(text(reply.data), String(requester.maxPayloadBytes))
    })
  )

  it.live("3: a reply over the limit fails its own request with too-large", () =>
    Effect.gen(function* () {
      const { requester, responder } = yield* openEndpoints(contract)
      const subject = freshSubject()
      yield* responder.serve({ subject, concurrency: 1, backlog: 1 }, (message) =>
        Effect.succeed({
          headers: {},
          data: new Uint8Array(text(message.data) === "large" ? responder.maxPayloadBytes + 1 : 1)
        })
      )
      const error = yield* Effect.flip(request(requester, subject, "large", "5 seconds"))
      assert.strictEqual(error.code, "too-large")
      assert.strictEqual((yield* request(requester, subject, "x", "5 seconds")).data.length, 1)
    })
  )
}

const describeRefusals = (contract: MessagingContract): void => {
  const refused = [
    { what: "an empty subject", subject: "", headers: {} },
    { what: "a subject with an empty token", subject: "a..b", headers: {} },
    { what: "a subject with a space", subject: "a b", headers: {} },
    { what: "a wildcard in a request's subject", subject: "a.*", headers: {} },
    { what: "a line break in a header", subject: "a.b", headers: { name: "a\r\nb: c" } },
    { what: "a colon in a header's name", subject: "a.b", headers: { "na:me": "a" } }
  ]
  for (const { what, subject, headers } of refused) {
    it.live(`${what} is refused as invalid`, () =>
      Effect.gen(function* () {
        const { requester } = yield* openEndpoints(contract)
        const message = { subject, headers, data: bytes("x") }
        const asked = yield* Effect.flip(requester.request({ ...message, deadline: "5 seconds" }))
        const published = yield* Effect.flip(requester.publish(message))
        assert.deepStrictEqual([asked.code, published.code], ["invalid", "invalid"])
      })
    )
  }
}

/**
 * Handlers that wait until the gate opens, and what they have counted. A listener's closing waits
 * for its handlers, so each test opens the gate before that, however it ends.
 */
const makeGate = Effect.gen(function* () {
  const go = yield* Deferred.make<void>()
  const running = yield* Ref.make(0)
  const most = yield* Ref.make(0)
  const handled = yield* Ref.make(0)
  const handle = Effect.gen(function* () {
    const now = yield* Ref.updateAndGet(running, (count) => count + 1)
    yield* Ref.update(most, (count) => Math.max(count, now))
    yield* Deferred.await(go)
    yield* Ref.update(running, (count) => count - 1)
    yield* Ref.update(handled, (count) => count + 1)
  })
  return {
    handle,
    open: Deferred.succeed(go, undefined),
    running: Ref.get(running),
    most: Ref.get(most),
    handled: Ref.get(handled)
  }
})

const describeBacklog = (contract: MessagingContract): void => {
  const ask = (messaging: Messaging["Service"], subject: string) =>
    Effect.result(request(messaging, subject, "x", "10 seconds"))

  it.live("4: concurrency runs, backlog waits, one more is answered overloaded at once", () =>
    Effect.gen(function* () {
      const { requester, responder } = yield* openEndpoints(contract)
      const subject = freshSubject()
      const gate = yield* makeGate
      yield* responder.serve({ subject, concurrency: 2, backlog: 3 }, () =>
        Effect.as(gate.handle, { headers: {}, data: bytes("ok") })
      )
      yield* Effect.addFinalizer(() => gate.open)
      const asked = yield* Effect.forEach(Array.from({ length: 7 }), () =>
        Effect.forkChild(ask(requester, subject))
      )
      const refused = Effect.sync(() => asked.filter((fiber) => fiber.pollUnsafe() !== undefined))
      yield* isAnswered(Effect.map(refused, (fibers) => fibers.length === 2))
      yield* isAnswered(Effect.map(gate.running, (count) => count === 2))
      yield* gate.open
      const results = yield* Effect.forEach(asked, Fiber.join)
      const codes = results.map((result) =>
        result._tag === "Success" ? text(result.success.data) : result.failure.code
      )
      assert.deepStrictEqual(codes.sort(), [
        "ok",
        "ok",
        "ok",
        "ok",
        "ok",
        "overloaded",
        "overloaded"
      ])
      assert.strictEqual(yield* gate.most, 2)
    })
  )

  it.live("4: published messages past the backlog are dropped, the held ones are handled", () =>
    Effect.gen(function* () {
      const { requester, responder } = yield* openEndpoints(contract)
      const subject = freshSubject()
      const gate = yield* makeGate
      yield* responder.subscribe({ subject, concurrency: 1, backlog: 2 }, () => gate.handle)
      yield* Effect.addFinalizer(() => gate.open)
      const data = bytes("x")
      yield* Effect.repeat(requester.publish({ subject, data }), { times: 9 })
      yield* isAnswered(Effect.map(gate.running, (count) => count === 1))
      yield* Effect.sleep("50 millis")
      yield* gate.open
      yield* isAnswered(Effect.map(gate.handled, (count) => count === 3))
      yield* Effect.sleep("50 millis")
      assert.deepStrictEqual([yield* gate.handled, yield* gate.most], [3, 1])
    })
  )
}

const describeFailures = (contract: MessagingContract): void => {
  it.live("6: a handler that dies fails its own request alone", () =>
    Effect.gen(function* () {
      const { requester, responder } = yield* openEndpoints(contract)
      const subject = freshSubject()
      yield* responder.serve({ subject, concurrency: 2, backlog: 8 }, (message) =>
        text(message.data) === "die"
          ? Effect.die(new Error("a handler of the contract died on purpose"))
          : Effect.succeed({ headers: {}, data: bytes("alive") })
      )
      const asks = ["a", "die", "b", "die", "c", "die"].map((each) =>
        Effect.result(request(requester, subject, each, "500 millis"))
      )
      const results = yield* Effect.all(asks, { concurrency: "unbounded" })
      assert.deepStrictEqual(
        results.map((result) => result._tag),
        ["Success", "Failure", "Success", "Failure", "Success", "Failure"]
      )
      const after = yield* request(requester, subject, "d", "5 seconds")
      assert.strictEqual(text(after.data), "alive")
    }).pipe(Effect.provideService(References.MinimumLogLevel, "None"))
  )

  it.live("6: a subscriber's handler that dies does not stop the next message", () =>
    Effect.gen(function* () {
      const { requester, responder } = yield* openEndpoints(contract)
      const subject = freshSubject()
      const handled = yield* Ref.make<ReadonlyArray<string>>([])
      yield* responder.subscribe({ subject, concurrency: 1, backlog: 8 }, (message) =>
        text(message.data) === "die"
          ? Effect.die(new Error("a handler of the contract died on purpose"))
          : Ref.update(handled, (all) => [...all, text(message.data)])
      )
      for (const each of ["die", "a", "die", "b"]) {
        yield* requester.publish({ subject, data: bytes(each) })
      }
      yield* isAnswered(Effect.map(Ref.get(handled), (all) => all.length === 2))
      assert.deepStrictEqual(yield* Ref.get(handled), ["a", "b"])
    }).pipe(Effect.provideService(References.MinimumLogLevel, "None"))
  )
}
