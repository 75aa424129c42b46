/** What an adapter says of itself to the Messaging contract. */
import type { Messaging } from "@holdfast/messaging"
import type { Effect, Layer } from "effect"

/** How to reach the adapter under test. */
export interface MessagingContract {
  readonly name: string
  /** A connection; it is built once a test, for the responder. */
  readonly layer: Layer.Layer<Messaging, unknown>
  /** The requester's connection, built after the responder's; the responder's kind when absent. */
  readonly requester?: Layer.Layer<Messaging, unknown>
  /**
   * Cuts the requester's connection off and brings it back; the tests of promise 5 need it. Each
   * effect returns once the requester's `state` shows it, or before.
   */
  readonly cut?: {
    readonly disconnect: Effect.Effect<void, unknown>
    readonly reconnect: Effect.Effect<void, unknown>
  }
}
