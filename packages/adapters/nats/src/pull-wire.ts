/** A pull session's view of a connection to NATS. */
import type { ManagedConnection } from "./managed-connection.ts"
import { bytesOf } from "./message-bytes.ts"
import type { PullWire } from "./pull-session.ts"

/** The wire to a consumer; requests for its next messages go to `nextSubject`. */
export const makePullWire = (connection: ManagedConnection, nextSubject: string): PullWire => ({
  newInbox: connection.newInbox,
  listen: (inbox, listener) => {
    const subscription = connection.native.subscribe(inbox, {
      callback: (thrown, message) =>
        thrown === null ? listener.onMessage(bytesOf(message)) : listener.onRefusal(thrown.message)
    })
    return () => {
      if (!subscription.isClosed()) subscription.unsubscribe()
    }
  },
  ask: (request, inbox) =>
    connection.native.publish(nextSubject, JSON.stringify(request), { reply: inbox })
})
