/** Streams that grow all week: every message can be said again from its number alone. */
import { setTimeout as sleep } from "node:timers/promises"
import { jetstream } from "@nats-io/jetstream"
import { headers, type NatsConnection } from "@nats-io/transport-node"

/** A message as it is published and as it must come back. */
export interface SentMessage {
  readonly subject: string
  readonly kind: string
  readonly data: string
}

const regions = ["eu", "us", "asia"] as const
/** What the header `Kind` says; a fifth of all messages each. */
export const kinds = ["new", "paid", "packed", "sent", "returned"] as const

/** The message of a number, the same each time. */
export const messageOf = (prefix: string, index: number): SentMessage => ({
  subject: `${prefix}.${regions[index % regions.length]}`,
  kind: kinds[index % kinds.length] ?? "",
  data: JSON.stringify({ index, amount: (index * 37) % 1_000, text: "x".repeat(index % 150) })
})

/** A stream that is being published to. */
export interface Load {
  /** Messages that JetStream has confirmed. */
  readonly sent: () => number
  /** Messages a second from now on. */
  readonly pace: (perSecond: number) => void
  /** Ends after what is under way is confirmed. */
  readonly stop: () => Promise<number>
}

const pauseMs = 50

/** Publishes messages in order, batch by batch. */
export const startLoad = (connection: NatsConnection, prefix: string): Load => {
  const stream = jetstream(connection)
  let perSecond = 200
  let sent = 0
  const ending = new AbortController()
  const publish = async (index: number): Promise<void> => {
    const { data, kind, subject } = messageOf(prefix, index)
    const block = headers()
    block.set("Kind", kind)
    await stream.publish(subject, data, { headers: block, msgID: `${prefix}-${index}` })
  }
  const loop = async (): Promise<void> => {
    while (!ending.signal.aborted) {
      const size = Math.max(1, Math.round((perSecond * pauseMs) / 1_000))
      const batch = Array.from({ length: size }, (_, at) => publish(sent + at))
      await Promise.all(batch)
      sent += size
      await sleep(pauseMs)
    }
  }
  const running = loop()
  return {
    sent: () => sent,
    pace: (wanted) => {
      perSecond = wanted
    },
    stop: async () => {
      ending.abort()
      await running
      return sent
    }
  }
}
