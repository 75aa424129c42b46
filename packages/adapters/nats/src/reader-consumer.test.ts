import { assert, describe, it } from "@effect/vitest"
import { AckPolicy, type ConsumerConfig } from "@nats-io/jetstream"
import { Effect, Logger } from "effect"
import { checkEcho } from "./reader-consumer.ts"

const asked = { ack_policy: AckPolicy.All, inactive_threshold: 60, filter_subject: "a.>" }

/** What is said aloud, or the sentence of the failure. */
const check = (config: Partial<ConsumerConfig>) =>
  Effect.gen(function* () {
    const said: Array<string> = []
    const listening = Logger.make<unknown, void>(({ message }) => void said.push(String(message)))
    const wished = [{ field: "inactive_threshold", consequence: "it stays" }] as const
    const required = ["ack_policy", "filter_subject"] as const
    return yield* checkEcho(
      { ack_policy: AckPolicy.All, ...config },
      {
        stream: "ORDERS",
        config: asked,
        required,
        wished
      }
    ).pipe(
      Effect.as(said),
      Effect.catch((error) => Effect.succeed([`${error.code}: ${error.message}`])),
      Effect.provide(Logger.layer([listening]))
    )
  })

describe("what a server has not heeded", () => {
  it.effect("is a failure where there is no doing without, and said aloud elsewhere", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* check(asked), [])
      assert.deepStrictEqual(yield* check({ ...asked, inactive_threshold: 0 }), [
        "the server does not heed inactive_threshold of ORDERS: it stays"
      ])
      const [sentence = ""] = yield* check({ inactive_threshold: 60 })
      assert.match(sentence, /^unsupported: .* does not heed filter_subject$/)
    })
  )
})
