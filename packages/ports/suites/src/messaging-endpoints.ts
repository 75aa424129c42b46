/** What the Messaging contract's tests share: two endpoints, fresh subjects, bytes as text. */
import { Messaging } from "@holdfast/messaging"
import type { Duration } from "effect"
import { Context, Effect, Layer, Schedule } from "effect"
import { randomUUID } from "node:crypto"
import type { MessagingContract } from "./messaging-contract.ts"

const encoder = new TextEncoder()
const decoder = new TextDecoder()

/** Text as the bytes of a message. */
export const bytes = (value: string): Uint8Array => encoder.encode(value)

/** The bytes of a message as text. */
export const text = (value: Uint8Array): string => decoder.decode(value)

/** A subject that no other test uses. */
export const freshSubject = (): string => `contract.${randomUUID()}`

/** A responder and a requester, each on its own connection, until the test ends. */
export const openEndpoints = Effect.fnUntraced(function* (contract: MessagingContract) {
  const open = (layer: MessagingContract["layer"]) =>
    Effect.map(Layer.build(Layer.fresh(layer)), (context) => Context.get(context, Messaging))
  const responder = yield* open(contract.layer)
  const requester = yield* open(contract.requester ?? contract.layer)
  return { requester, responder }
})

/** A request of a text. */
export const request = (
  messaging: Messaging["Service"],
  subject: string,
  data: string,
  deadline: Duration.Input
) => messaging.request({ subject, data: bytes(data), deadline })

/** Waits, for 10 seconds at most, until a condition holds. */
export const isAnswered = <E>(condition: Effect.Effect<boolean, E>) =>
  Effect.repeat(condition, {
    until: (holds) => holds,
    schedule: Schedule.spaced("5 millis")
  }).pipe(Effect.timeout("10 seconds"))
