import { MemoryNetwork } from "@holdfast/adapter-memory"
import { assert, layer } from "@effect/vitest"
import { Messaging } from "@holdfast/messaging"
import { Effect, Option, Schema } from "effect"
import { makeCaller } from "./call.ts"
import { operation } from "./operation.ts"
import { serveOperation } from "./serve.ts"
import { ServiceError } from "./service-error.ts"

const double = operation({
  service: "metadata",
  name: "double",
  request: Schema.Struct({ value: Schema.BigInt }),
  response: Schema.Struct({ value: Schema.BigInt, from: Schema.Option(Schema.String) })
})
const call = makeCaller(double)
const options = {
  cluster: "c1",
  deadline: "1 second",
  requestId: "r1",
  sender: "w1",
  epoch: 4
} as const

const serveDouble = serveOperation(double, {
  cluster: "c1",
  concurrency: 1,
  backlog: 4,
  handler: ({ value }, context) => {
    if (value === 0n) {
      return Effect.fail(new ServiceError({ code: "zero", message: "not zero", retryAfterMs: 5 }))
    }
    if (value === 13n) return Effect.die(new Error("thirteen"))
    return Effect.succeed({
      response: { value: value * 2n, from: context.sender },
      attachment: context.attachment
    })
  }
})

const textReply = Effect.fnUntraced(function* (text: string, headers: Record<string, string> = {}) {
  const messaging = yield* Messaging
  const reply = yield* messaging.request({
    subject: "holdfast.c1.metadata.double",
    headers,
    data: new TextEncoder().encode(text),
    deadline: "1 second"
  })
  return new TextDecoder().decode(reply.data)
})

layer(MemoryNetwork.layerAlone())("an operation", (it) => {
  it.effect("carries request, response, attachment and sender", () =>
    Effect.gen(function* () {
      yield* serveDouble
      const attachment = new Uint8Array([1, 2, 3])
      const result = yield* call({ ...options, request: { value: 2n ** 70n }, attachment })
      assert.deepStrictEqual(result.response, { value: 2n ** 71n, from: Option.some("w1") })
      assert.deepStrictEqual([...result.attachment], [1, 2, 3])
    })
  )

  it.effect("passes a service's error on with its code and delay", () =>
    Effect.gen(function* () {
      yield* serveDouble
      const error = yield* Effect.flip(call({ ...options, request: { value: 0n } }))
      assert.deepStrictEqual(
        error,
        new ServiceError({ code: "zero", message: "not zero", retryAfterMs: 5 })
      )
    })
  )

  it.effect("answers `internal` for a handler that dies, and lives", () =>
    Effect.gen(function* () {
      yield* serveDouble
      const error = yield* Effect.flip(call({ ...options, request: { value: 13n } }))
      assert.strictEqual(error._tag === "ServiceError" && error.code, "internal")
      const after = yield* call({ ...options, request: { value: 1n } })
      assert.strictEqual(after.response.value, 2n)
    })
  )

  it.effect("refuses what is not of its schema or protocol, in the envelope", () =>
    Effect.gen(function* () {
      yield* serveDouble
      assert.include(yield* textReply("{}"), '"code":"invalid-request"')
      assert.include(yield* textReply("not json"), '"code":"invalid-request"')
      assert.include(
        yield* textReply('{"value":"1"}', { "Holdfast-Protocol": "9" }),
        '"code":"unsupported-protocol"'
      )
    })
  )

  it.effect("can be typed by hand, without headers", () =>
    Effect.gen(function* () {
      yield* serveDouble
      assert.strictEqual(
        yield* textReply('{"value":"21"}'),
        '{"ok":{"value":"42","from":{"_tag":"None"}}}'
      )
    })
  )

  it.effect("fails typed when nobody serves it", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(call({ ...options, cluster: "c2", request: { value: 1n } }))
      assert.strictEqual(error._tag === "MessagingError" && error.code, "no-responders")
    })
  )
})
