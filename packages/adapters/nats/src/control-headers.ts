/**
 * Headers by which a publisher commands JetStream. The server stores them with the record, so a
 * record that is published again would command again: roll up what is there, or be refused because
 * the stream does not end where it once did. They are kept under another name instead.
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
const encoder = new TextEncoder()
const decoder = new TextDecoder()
/** What this product's own commands name: they say nothing about the record. */
const own = encoder.encode("holdfast.")

/** What stands in front of the name of a header that would command the server. */
export const originalPrefix = "Holdfast-Original-"

/**
 * The headers in their order, those that would command the server renamed to
 * `Holdfast-Original-<name>`; those that this product itself had added are left out.
 */
export const disarmControlHeaders = (
  headers: ReadonlyArray<RecordHeader>
): ReadonlyArray<RecordHeader> => {
  if (!headers.some(([name]) => isControlHeader(name))) return headers
  return headers.flatMap((header): ReadonlyArray<RecordHeader> => {
    const [name, value] = header
    if (!isControlHeader(name)) return [header]
    if (own.every((byte, at) => value[at] === byte)) return []
    return [[encoder.encode(`${originalPrefix}${decoder.decode(name)}`), value]]
  })
}

const isControlHeader = (name: Uint8Array): boolean => {
  const text = decoder.decode(name).toLowerCase()
  return commands.some((command) => text.startsWith(command))
}
