/**
 * Headers by which a publisher commands JetStream. The server stores them with the record, so a
 * record that is published again would command again: roll up what is there, or be refused because
 * the stream does not end where it once did.
 */
import type { RecordHeader } from "@holdfast/records"

const commands = [
  "nats-expected-",
  "nats-rollup",
  "nats-msg-id",
  "nats-ttl",
  "nats-schedule",
  "nats-batch-",
  "nats-required-api-level"
]
const decoder = new TextDecoder()

/** The headers without those that would command the server; the rest is kept in order. */
export const withoutControlHeaders = (
  headers: ReadonlyArray<RecordHeader>
): ReadonlyArray<RecordHeader> => headers.filter(([name]) => !isControlHeader(name))

const isControlHeader = (name: Uint8Array): boolean => {
  const text = decoder.decode(name).toLowerCase()
  return commands.some((command) => text.startsWith(command))
}
