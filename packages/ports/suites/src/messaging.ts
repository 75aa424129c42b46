/**
 * The contract of the Messaging port, as tests that any adapter runs.
 *
 *     describeMessagingContract({ name: "nats", layer: NatsMessaging.layer(url) })
 *
 * The numbers in the test names are those of the port's module comment.
 */
import { assert, describe, it } from "@effect/vitest"
import type { Messaging } from "@holdfast/messaging"
import { Deferred, Effect, Exit, Fiber, Option, Ref, Scope, Stream } from "effect"
import type { MessagingContract } from "./messaging-contract.ts"
import { describeMessagingLimits } from "./messaging-limits.ts"
import {
  bytes,
  freshSubject,
  isAnswered,
  openEndpoints,
  request,
  text
} from "./messaging-endpoints.ts"

/** Runs the Messaging contract against an adapter. */
export const describeMessagingContract = (contract: MessagingContract): void => {
  describe(`Messaging contract: ${contract.name}`, () => {
    describeRequests(contract)
    describeOnce(contract)
    describePublishing(contract)
    describeMessagingLimits(contract)
    describeLifetime(contract)
    if (contract.cut !== undefined) describeCut(contract, contract.cut)
  })
}

const describeRequests = (contract: MessagingContract): void => {
  it.live("1: a request ends with the reply, its headers and bytes as they were sent", () =>
    Effect.gen(function* () {
      const { requester, responder } = yield* openEndpoints(contract)
      const subject = freshSubject()
      yield* responder.serve({ subject, concurrency: 1, backlog: 1 }, (message) =>
        Effect.succeed({
          headers: { "x-seen": message.headers["x-id"] ?? "none" },
          data: Uint8Array.of(...message.data, 255)
        })
      )
      const reply = yield* requester.request({
        subject,
        headers: { "x-id": "a b:c" },
        data: Uint8Array.of(0, 10, 13, 200),
        deadline: "5 seconds"
      })
      assert.strictEqual(reply.headers["x-seen"], "a b:c")
      assert.deepStrictEqual(Array.from(reply.data), [0, 10, 13, 200, 255])
    })
  )

  it.live("1: a request whose responder never answers ends with timeout", () =>
    Effect.gen(function* () {
      const { requester, responder } = yield* openEndpoints(contract)
      const subject = freshSubject()
      const stop = yield* Deferred.make<void>()
      yield* responder.serve({ subject, concurrency: 1, backlog: 0 }, () =>
        Effect.as(Deferred.await(stop), { headers: {}, data: bytes("late") })
      )
      yield* Effect.addFinalizer(() => Deferred.succeed(stop, undefined))
      const error = yield* Effect.flip(request(requester, subject, "x", "150 millis"))
      assert.strictEqual(error.code, "timeout")
      assert.strictEqual(error.subject, subject)
      assert.isTrue(error.isRetryable)
    })
  )

  it.live("1: a request that nobody serves ends at once with no-responders", () =>
    Effect.gen(function* () {
      const { requester } = yield* openEndpoints(contract)
      const error = yield* Effect.flip(request(requester, freshSubject(), "x", "20 seconds"))
      assert.strictEqual(error.code, "no-responders")
    })
  )

  it.live("1: many requests at once each get their own reply", () =>
    Effect.gen(function* () {
      const { requester, responder } = yield* openEndpoints(contract)
      const subject = freshSubject()
      yield* responder.serve({ subject, concurrency: 4, backlog: 100 }, (message) =>
        Effect.succeed({ headers: {}, data: bytes(`re ${text(message.data)}`) })
      )
      const sent = Array.from({ length: 50 }, (_, index) => String(index))
      const replies = yield* Effect.forEach(
        sent,
        (each) => request(requester, subject, each, "10 seconds"),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(
        replies.map((reply) => text(reply.data)),
        sent.map((each) => `re ${each}`)
      )
    })
  )
}

const describeOnce = (contract: MessagingContract): void => {
  it.live("2: one request is handled once", () =>
    Effect.gen(function* () {
      const { requester, responder } = yield* openEndpoints(contract)
      const subject = freshSubject()
      const handled = yield* Ref.make(0)
      yield* responder.serve({ subject, concurrency: 1, backlog: 8 }, () =>
        Effect.as(
          Ref.update(handled, (count) => count + 1),
          { headers: {}, data: bytes("") }
        )
      )
      for (const each of ["a", "b", "c"]) yield* request(requester, subject, each, "5 seconds")
      assert.strictEqual(yield* Ref.get(handled), 3)
    })
  )

  it.live("2: members of one queue group share requests, each goes to one of them", () =>
    Effect.gen(function* () {
      const { requester, responder } = yield* openEndpoints(contract)
      const subject = freshSubject()
      const handled = yield* Ref.make(0)
      for (const member of ["one", "two", "three"]) {
        yield* responder.serve({ subject, queue: "group", concurrency: 1, backlog: 50 }, () =>
          Effect.as(
            Ref.update(handled, (count) => count + 1),
            { headers: { member }, data: bytes("") }
          )
        )
      }
      yield* Effect.repeat(request(requester, subject, "x", "5 seconds"), { times: 19 })
      assert.strictEqual(yield* Ref.get(handled), 20)
    })
  )
}

/** Subscribes, and answers what was taken so far. */
const collect = (messaging: Messaging["Service"], subject: string, queue?: string) =>
  Effect.gen(function* () {
    const taken = yield* Ref.make<ReadonlyArray<string>>([])
    const options = { subject, concurrency: 1, backlog: 64 }
    yield* messaging.subscribe(queue === undefined ? options : { ...options, queue }, (message) =>
      Ref.update(taken, (all) => [...all, `${message.subject} ${text(message.data)}`])
    )
    return Ref.get(taken)
  })

const describePublishing = (contract: MessagingContract): void => {
  it.live("2: every subscriber gets a published message once, in the order of sending", () =>
    Effect.gen(function* () {
      const { requester, responder } = yield* openEndpoints(contract)
      const subject = freshSubject()
      const first = yield* collect(responder, subject)
      const second = yield* collect(responder, subject)
      for (const each of ["a", "b", "c"]) {
        yield* requester.publish({ subject, data: bytes(each) })
      }
      const expected = ["a", "b", "c"].map((each) => `${subject} ${each}`)
      yield* isAnswered(Effect.map(first, (taken) => taken.length === 3))
      yield* isAnswered(Effect.map(second, (taken) => taken.length === 3))
      assert.deepStrictEqual(yield* first, expected)
      assert.deepStrictEqual(yield* second, expected)
    })
  )

  it.live("2: one member of a queue group gets a published message", () =>
    Effect.gen(function* () {
      const { requester, responder } = yield* openEndpoints(contract)
      const subject = freshSubject()
      const members = [
        yield* collect(responder, subject, "group"),
        yield* collect(responder, subject, "group")
      ]
      const witness = yield* collect(responder, subject)
      for (const each of ["a", "b", "c", "d"]) {
        yield* requester.publish({ subject, data: bytes(each) })
      }
      yield* isAnswered(Effect.map(witness, (taken) => taken.length === 4))
      const shared = Effect.map(Effect.all(members), (taken) => taken.flat().length)
      yield* isAnswered(Effect.map(shared, (count) => count === 4))
      yield* Effect.sleep("50 millis")
      assert.strictEqual(yield* shared, 4)
    })
  )

  it.live("a publish that nobody takes succeeds", () =>
    Effect.gen(function* () {
      const { requester } = yield* openEndpoints(contract)
      yield* requester.publish({ subject: freshSubject(), data: bytes("x") })
    })
  )

  it.live("`*` stands for one token, `>` for one or more at the end", () =>
    Effect.gen(function* () {
      const { requester, responder } = yield* openEndpoints(contract)
      const root = freshSubject()
      const star = yield* collect(responder, `${root}.*.end`)
      const rest = yield* collect(responder, `${root}.>`)
      const all = [`${root}.a.end`, `${root}.a.b.end`, `${root}.a`, root, `${root}.z.end`]
      for (const subject of all) yield* requester.publish({ subject, data: bytes("x") })
      yield* isAnswered(Effect.map(rest, (taken) => taken.length === 4))
      yield* isAnswered(Effect.map(star, (taken) => taken.length === 2))
      assert.deepStrictEqual(yield* star, [`${root}.a.end x`, `${root}.z.end x`])
      assert.deepStrictEqual(
        yield* rest,
        all.filter((subject) => subject !== root).map((subject) => `${subject} x`)
      )
    })
  )
}

const describeLifetime = (contract: MessagingContract): void => {
  it.live("closing a responder's scope waits for its running handler, whose reply arrives", () =>
    Effect.gen(function* () {
      const { requester, responder } = yield* openEndpoints(contract)
      const subject = freshSubject()
      const entered = yield* Deferred.make<void>()
      const go = yield* Deferred.make<void>()
      const scope = yield* Scope.make()
      yield* responder
        .serve({ subject, concurrency: 1, backlog: 0 }, () =>
          Effect.gen(function* () {
            yield* Deferred.succeed(entered, undefined)
            yield* Deferred.await(go)
            return { headers: {}, data: bytes("done") }
          })
        )
        .pipe(Scope.provide(scope))
      const asking = yield* Effect.forkChild(request(requester, subject, "x", "10 seconds"))
      yield* Deferred.await(entered)
      const closing = yield* Effect.forkChild(Scope.close(scope, Exit.void))
      const early = yield* Effect.timeoutOption(Fiber.await(closing), "50 millis")
      assert.isTrue(Option.isNone(early), "the scope closed while a handler ran")
      yield* Deferred.succeed(go, undefined)
      assert.strictEqual(text((yield* Fiber.join(asking)).data), "done")
      yield* Fiber.join(closing)
      const error = yield* Effect.flip(request(requester, subject, "x", "500 millis"))
      assert.strictEqual(error.code, "no-responders")
    })
  )

  it.live("the state is connected, and `states` begins with the state now", () =>
    Effect.gen(function* () {
      const { requester } = yield* openEndpoints(contract)
      assert.strictEqual(yield* requester.state, "connected")
      const first = yield* Stream.runHead(requester.states).pipe(Effect.timeout("5 seconds"))
      assert.deepStrictEqual(first, Option.some("connected"))
    })
  )
}

const describeCut = (
  contract: MessagingContract,
  cut: NonNullable<MessagingContract["cut"]>
): void => {
  it.live("5: while disconnected, requests and publishes fail at once; afterwards they pass", () =>
    Effect.gen(function* () {
      const { requester, responder } = yield* openEndpoints(contract)
      const subject = freshSubject()
      yield* responder.serve({ subject, concurrency: 1, backlog: 1 }, () =>
        Effect.succeed({ headers: {}, data: bytes("here") })
      )
      yield* cut.disconnect
      yield* isAnswered(Effect.map(requester.state, (state) => state === "reconnecting"))
      const asked = yield* Effect.flip(request(requester, subject, "x", "20 seconds"))
      const published = yield* Effect.flip(requester.publish({ subject, data: bytes("x") }))
      assert.deepStrictEqual([asked.code, published.code], ["disconnected", "disconnected"])
      yield* cut.reconnect
      yield* isAnswered(Effect.map(requester.state, (state) => state === "connected"))
      const retried = request(requester, subject, "x", "1 second")
      const reply = yield* Effect.retry(retried, { times: 20 })
      assert.strictEqual(text(reply.data), "here")
    })
  )
}
