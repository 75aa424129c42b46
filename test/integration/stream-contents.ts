/** Messages of a JetStream stream as tests put them in and compare them. */
import { jetstream, jetstreamManager } from "@nats-io/jetstream"
import { headers, type NatsConnection } from "@nats-io/transport-node"

/** A message as a test compares it. */
export interface Message {
  readonly subject: string
  readonly headers: ReadonlyArray<readonly [string, string]>
  readonly data: string
}

const messageOf = (index: number): Message => ({
  subject: `orders.${["eu", "us", "asia"][index % 3]}`,
  headers:
    index % 4 === 0
      ? []
      : [
          ["Trace", `t-${index}`],
          ["Trace", `again-${index}`]
        ],
  data:
    index % 50 === 0 ? "" : JSON.stringify({ index, kind: index % 5, text: "x".repeat(index % 90) })
})

/** The messages of a range of numbers, the same each time; both ends included. */
export const messages = (from: number, to: number): ReadonlyArray<Message> =>
  Array.from({ length: to - from + 1 }, (_, at) => messageOf(from + at))

const batch = 500

/** Publishes messages in order, each with a message id of its own. */
export const publishAll = async (
  connection: NatsConnection,
  all: ReadonlyArray<Message>
): Promise<void> => {
  const stream = jetstream(connection)
  for (let from = 0; from < all.length; from += batch) {
    const sent = all.slice(from, from + batch).map((one, index) => {
      const block = headers()
      for (const [name, value] of one.headers) block.append(name, value)
      return stream.publish(one.subject, one.data, { headers: block, msgID: `m-${from + index}` })
    })
    await Promise.all(sent)
  }
}

/** All that a stream holds, without the headers that speak to the server. */
export const contentsOfStream = async (
  connection: NatsConnection,
  name: string
): Promise<ReadonlyArray<Message>> => {
  const { state } = await (await jetstreamManager(connection)).streams.info(name)
  const found: Array<Message> = []
  if (state.messages === 0) return found
  const consumer = await jetstream(connection).consumers.get(name)
  const fetched = await consumer.fetch({ max_messages: state.messages, expires: 30_000 })
  for await (const message of fetched) {
    const pairs = [...(message.headers ?? [])].flatMap(([key, values]) =>
      /^(Nats|Holdfast-Original)-/.test(key) ? [] : values.map((value) => [key, value] as const)
    )
    found.push({ subject: message.subject, headers: pairs, data: message.string() })
  }
  return found
}
