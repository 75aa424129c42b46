/** The JetStream API of a connection. */
import { type JetStreamManager, jetstreamManager } from "@nats-io/jetstream"
import { Effect } from "effect"
import { callDeadlineMs } from "./jetstream-call.ts"
import type { ManagedConnection } from "./managed-connection.ts"

/** The JetStream API of a connection; nothing is asked of the server yet. */
export const openManager = (
  connection: ManagedConnection,
  domain?: string
): Effect.Effect<JetStreamManager> =>
  Effect.promise(() =>
    jetstreamManager(connection.native, {
      checkAPI: false,
      timeout: callDeadlineMs,
      ...(domain === undefined ? {} : { domain })
    })
  )
