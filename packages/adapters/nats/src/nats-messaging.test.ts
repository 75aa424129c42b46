import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Messaging } from "@holdfast/messaging"
import { describeMessagingContract } from "@holdfast/suites"
import {
  Context,
  Deferred,
  Effect,
  Exit,
  Fiber,
  Layer,
  Ref,
  References,
  Schedule,
  Scope,
  Stream
} from "effect"
import { natsMessagingLayer } from "./nats-messaging.ts"
import { type Proxy, startProxy } from "./testing/proxy.ts"
import { useNatsServer } from "./testing/server-layer.ts"

const { server, connections } = useNatsServer()
const layer = natsMessagingLayer({ drainDeadline: "500 millis" }).pipe(Layer.provide(connections()))
const build = Effect.map(Layer.build(Layer.fresh(layer)), (context) =>
  Context.get(context, Messaging)
)
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
const text = (data: Uint8Array): string => new TextDecoder().decode(data)
const quiet = Effect.provideService(References.MinimumLogLevel, "None")
const killServer = Effect.promise(() => server().kill())
const startServer = Effect.promise(() => server().start())

let proxy: Proxy | undefined
beforeAll(async () => {
  proxy = await startProxy(() => server().port)
})
afterAll(() => proxy?.cut())
const throughProxy = Layer.unwrap(
  Effect.sync(() => connections(proxy === undefined ? {} : { servers: [proxy.url] }))
)

describeMessagingContract({
  name: "nats",
  layer,
  requester: natsMessagingLayer().pipe(Layer.provide(throughProxy)),
  cut: {
    disconnect: Effect.promise(async () => proxy?.cut()),
    reconnect: Effect.promise(async () => proxy?.mend())
  }
})

describe("Messaging on NATS", () => {
  it.live("a request under way when the server dies fails at once as disconnected", () =>
    Effect.gen(function* () {
      const messaging = yield* build
      const entered = yield* Deferred.make<void>()
      yield* messaging.serve({ subject: "stuck", concurrency: 1, backlog: 0 }, () =>
        Effect.andThen(Deferred.succeed(entered, undefined), Effect.never)
      )
      const asking = yield* messaging
        .request({ subject: "stuck", data: bytes("x"), deadline: "1 minute" })
        .pipe(Effect.flip, Effect.forkChild)
      yield* Deferred.await(entered)
      yield* killServer
      const error = yield* Fiber.join(asking).pipe(Effect.timeout("5 seconds"))
      yield* startServer
      assert.strictEqual(error.code, "disconnected")
    }).pipe(Effect.scoped, quiet)
  )

  it.live("under a kill and restart every request ends, and a retry of each succeeds once", () =>
    Effect.gen(function* () {
      const responder = yield* build
      const requester = yield* build
      const handled = yield* Ref.make(new Set<string>())
      yield* responder.serve({ subject: "work", concurrency: 8, backlog: 100 }, (message) =>
        Effect.as(
          Ref.update(handled, (set) => new Set(set).add(message.headers["id"] ?? "")),
          { headers: {}, data: message.data }
        )
      )
      const ask = (id: number) =>
        requester.request({
          subject: "work",
          headers: { id: String(id) },
          data: bytes(String(id)),
          deadline: "500 millis"
        })
      const retrying = (id: number) =>
        Effect.retry(ask(id), { schedule: Schedule.spaced("20 millis"), times: 500 })
      const ids = Array.from({ length: 2_000 }, (_, index) => index)
      const asking = yield* Effect.forEach(ids, retrying, { concurrency: 32 }).pipe(
        Effect.forkChild
      )
      yield* Effect.sleep("20 millis")
      yield* killServer
      yield* startServer
      const replies = yield* Fiber.join(asking)
      assert.deepStrictEqual(
        replies.map((reply) => text(reply.data)),
        ids.map(String)
      )
      assert.strictEqual((yield* Ref.get(handled)).size, ids.length)
    }).pipe(Effect.scoped, quiet)
  )

  it.live("a frozen server is noticed by missed pings, and its return too", () =>
    Effect.gen(function* () {
      const messaging = yield* build
      const seen = yield* messaging.states.pipe(
        Stream.take(3),
        Stream.runCollect,
        Effect.forkChild({ startImmediately: true })
      )
      yield* Effect.sync(() => server().freeze())
      const isCut = Effect.map(messaging.state, (state) => state === "reconnecting")
      yield* Effect.repeat(isCut, { until: (cut) => cut, schedule: Schedule.spaced("20 millis") })
      yield* Effect.sync(() => server().thaw())
      assert.deepStrictEqual(yield* Fiber.join(seen), ["connected", "reconnecting", "connected"])
    }).pipe(Effect.scoped, Effect.timeout("15 seconds"), quiet)
  )

  it.live("closing a scope drains what was held behind a slow handler", () =>
    Effect.gen(function* () {
      const messaging = yield* build
      const scope = yield* Scope.make()
      const started = yield* Deferred.make<void>()
      yield* messaging
        .serve({ subject: "slow", concurrency: 1, backlog: 10 }, (message) =>
          Deferred.succeed(started, undefined).pipe(
            Effect.andThen(Effect.sleep("30 millis")),
            Effect.as({ headers: {}, data: message.data })
          )
        )
        .pipe(Scope.provide(scope))
      const ask = (id: number) =>
        messaging.request({ subject: "slow", data: bytes(String(id)), deadline: "5 seconds" })
      const asking = yield* Effect.forEach([1, 2, 3, 4], ask, { concurrency: 4 }).pipe(
        Effect.forkChild
      )
      yield* Deferred.await(started)
      yield* Scope.close(scope, Exit.void)
      const replies = yield* Fiber.join(asking)
      assert.deepStrictEqual(replies.map((reply) => text(reply.data)).sort(), ["1", "2", "3", "4"])
    }).pipe(Effect.scoped)
  )

  it.live("a handler that throws instead of failing answers its request as well", () =>
    Effect.gen(function* () {
      const messaging = yield* build
      yield* messaging.serve({ subject: "throws", concurrency: 1, backlog: 0 }, () => {
        throw new Error("on purpose")
      })
      const error = yield* Effect.flip(
        messaging.request({ subject: "throws", data: bytes(""), deadline: "1 minute" })
      )
      assert.match(error.message, /died/)
    }).pipe(Effect.scoped, quiet)
  )

  it.live("headers keep spaces and other letters; a closed connection says so", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const messaging = yield* build.pipe(Scope.provide(scope))
      yield* messaging
        .serve({ subject: "echo", concurrency: 1, backlog: 0 }, (message) =>
          Effect.succeed({ headers: message.headers, data: message.data })
        )
        .pipe(Scope.provide(scope))
      const headers = { "x-a": "  spaced ", "x-b": "größer", "X-A": "other case", "x-empty": "" }
      const request = { subject: "echo", headers, data: bytes(""), deadline: "5 seconds" } as const
      const reply = yield* messaging.request(request)
      assert.deepStrictEqual(reply.headers, headers)
      yield* Scope.close(scope, Exit.void)
      assert.strictEqual((yield* Effect.flip(messaging.request(request))).code, "closed")
    })
  )
})
