/** Asks a service whether it answers, for `/ready` and for gauges that its own status shows. */
import { Messaging } from "@holdfast/messaging"
import { makeCaller, makeRequestId, type Operation } from "@holdfast/wire"
import { Effect, Option } from "effect"

const deadline = "1 second"

/** Prepares an operation whose answer, or its absence within a second, says how a service is. */
export const probe = <Request, Response>(operation: Operation<Request, Response>) => {
  const call = makeCaller(operation)
  return Effect.fnUntraced(function* (options: {
    readonly cluster: string
    readonly instance?: string
    readonly request: Request
  }): Effect.fn.Return<Option.Option<Response>, never, Messaging> {
    const requestId = yield* makeRequestId
    const answer = yield* Effect.option(call({ ...options, deadline, requestId }))
    return Option.map(answer, ({ response }) => response)
  })
}

/** What is missing of the transport. */
export const missingTransport: Effect.Effect<ReadonlyArray<string>, never, Messaging> = Effect.gen(
  function* () {
    const messaging = yield* Messaging
    switch (yield* messaging.state) {
      case "connected":
        return []
      case "reconnecting":
        return ["the connection to NATS is lost; it is being made again"]
      case "closed":
        return ["the connection to NATS is closed"]
    }
  }
)

/** A sentence for each answer that is absent. */
export const missingAnswers = Effect.fnUntraced(function* (
  wanted: Readonly<Record<string, Effect.Effect<Option.Option<unknown>, never, Messaging>>>
): Effect.fn.Return<ReadonlyArray<string>, never, Messaging> {
  const broken = yield* missingTransport
  if (broken.length > 0) return broken
  const answers = yield* Effect.all(wanted, { concurrency: "unbounded" })
  return Object.entries(answers).flatMap(([sentence, answer]) =>
    Option.isNone(answer) ? [sentence] : []
  )
})
