import { existsSync, statSync } from "node:fs"
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { MemoryNetwork } from "@holdfast/adapter-memory"
import { Messaging } from "@holdfast/messaging"
import { Context, Deferred, Effect, Layer, Schema } from "effect"
import { layerLoopbackMessaging, serveLoopback } from "./index.ts"
import { LoopbackAccess } from "./loopback-wire.ts"

const accessFile = Effect.acquireRelease(
  Effect.promise(() => mkdtemp(join(tmpdir(), "holdfast-loopback-"))),
  (directory) => Effect.promise(() => rm(directory, { recursive: true }))
).pipe(Effect.map((directory) => join(directory, "access.json")))

/** A server before a memory network, and the network's own side of it. */
const served = Effect.fnUntraced(function* (options: { readonly requestsMax?: number } = {}) {
  const file = yield* accessFile
  const network = yield* MemoryNetwork.make({})
  const inner = Context.get(yield* Layer.build(MemoryNetwork.layer(network, "embedded")), Messaging)
  const { url } = yield* serveLoopback({
    accessFile: file,
    port: 0,
    requestsMax: options.requestsMax ?? 8
  }).pipe(Effect.provideService(Messaging, inner))
  return { file, inner, url }
})

const client = (file: string) =>
  Layer.build(Layer.fresh(layerLoopbackMessaging({ accessFile: file }))).pipe(
    Effect.map((context) => Context.get(context, Messaging))
  )

const post = (url: string, token: string, body: string) =>
  Effect.promise(() =>
    fetch(url, { method: "POST", headers: { authorization: `Bearer ${token}` }, body })
  )

describe("loopback messaging", () => {
  it.live("the access file is its owner's alone, and goes with the server", () =>
    Effect.gen(function* () {
      const file = yield* accessFile
      yield* Effect.scoped(
        Effect.gen(function* () {
          const network = yield* MemoryNetwork.make({})
          yield* serveLoopback({ accessFile: file, port: 0, requestsMax: 1 }).pipe(
            Effect.provide(MemoryNetwork.layer(network, "embedded"))
          )
          assert.strictEqual(statSync(file).mode & 0o777, 0o600)
        })
      )
      assert.isFalse(existsSync(file))
      const error = yield* Effect.flip(client(file))
      assert.strictEqual(error.code, "disconnected")
    })
  )

  it.live("nothing is answered without the token", () =>
    Effect.gen(function* () {
      const { url, file } = yield* served()
      const access = yield* Schema.decodeEffect(LoopbackAccess)(
        yield* Effect.promise(() => readFile(file, "utf8"))
      )
      const body = JSON.stringify({ subject: "a" })
      const wrong = access.token.replace(/^./, (first) => (first === "A" ? "B" : "A"))
      for (const [token, status] of [
        ["", 403],
        [wrong, 403],
        [`${access.token}x`, 403],
        [access.token, 404]
      ] as const) {
        const response = yield* post(`${url}/v1/request`, token, body)
        assert.strictEqual(response.status, status, token)
      }
    })
  )

  it.live("a request can be typed by hand", () =>
    Effect.gen(function* () {
      const { url, file, inner } = yield* served()
      yield* inner.serve({ subject: "echo", concurrency: 1, backlog: 0 }, (message) =>
        Effect.succeed({ headers: { seen: message.subject }, data: message.data })
      )
      const { token } = yield* Schema.decodeEffect(LoopbackAccess)(
        yield* Effect.promise(() => readFile(file, "utf8"))
      )
      const response = yield* post(`${url}/v1/request`, token, '{"subject":"echo"}')
      assert.strictEqual(
        yield* Effect.promise(() => response.text()),
        '{"headers":{"seen":"echo"}}'
      )
      for (const body of ["", "{}", "[", '{"subject":7}', '{"subject":"a","deadlineMs":-1}']) {
        assert.strictEqual((yield* post(`${url}/v1/request`, token, body)).status, 400, body)
      }
      assert.strictEqual((yield* post(`${url}/v1/other`, token, "{}")).status, 400)
    })
  )

  it.live("serving and subscribing are denied", () =>
    Effect.gen(function* () {
      const messaging = yield* client((yield* served()).file)
      const options = { subject: "a", concurrency: 1, backlog: 0 }
      const serving = messaging.serve(options, () =>
        Effect.succeed({ headers: {}, data: new Uint8Array(0) })
      )
      const errors = [
        yield* Effect.flip(serving),
        yield* Effect.flip(messaging.subscribe(options, () => Effect.void))
      ]
      assert.deepStrictEqual(
        errors.map((error) => error.code),
        ["denied", "denied"]
      )
    })
  )

  it.live("one request over the limit is overloaded; a client that leaves ends its request", () =>
    Effect.gen(function* () {
      const { file, inner } = yield* served({ requestsMax: 1 })
      const entered = yield* Deferred.make<void>()
      const gate = yield* Deferred.make<void>()
      yield* inner.serve({ subject: "slow", concurrency: 4, backlog: 0 }, () =>
        Deferred.succeed(entered, undefined).pipe(
          Effect.andThen(Deferred.await(gate)),
          Effect.as({ headers: {}, data: new Uint8Array(0) })
        )
      )
      const messaging = yield* client(file)
      const slow = { subject: "slow", data: new Uint8Array(0), deadline: "20 seconds" } as const
      const waiting = yield* Effect.forkChild(messaging.request(slow))
      yield* Deferred.await(entered)
      const error = yield* Effect.flip(messaging.request(slow))
      assert.strictEqual(error.code, "overloaded")
      waiting.interruptUnsafe()
      const quick = { ...slow, subject: "nobody" }
      const free = yield* Effect.flip(messaging.request(quick)).pipe(
        Effect.repeat({ while: (failure) => failure.code === "overloaded", times: 1000 })
      )
      assert.strictEqual(free.code, "no-responders")
      yield* Deferred.succeed(gate, undefined)
    })
  )

  it.live("a server that was started anew is found again, another listener is not believed", () =>
    Effect.gen(function* () {
      const first = yield* served()
      const messaging = yield* client(first.file)
      const second = yield* served()
      yield* second.inner.serve({ subject: "who", concurrency: 1, backlog: 0 }, () =>
        Effect.succeed({ headers: {}, data: new TextEncoder().encode("second") })
      )
      const text = yield* Effect.promise(() => readFile(second.file, "utf8"))
      yield* Effect.promise(() => writeFile(first.file, text))
      const who = { subject: "who", data: new Uint8Array(0), deadline: "5 seconds" } as const
      const reply = yield* messaging.request(who)
      assert.strictEqual(new TextDecoder().decode(reply.data), "second")
      const stale = text.replace(/"token":"./, '"token":"_')
      yield* Effect.promise(() => writeFile(first.file, stale))
      assert.strictEqual((yield* Effect.flip(messaging.request(who))).code, "denied")
    })
  )
})
