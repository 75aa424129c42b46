/**
 * The bytes of a received message. The client library offers subject, reply subject and headers as
 * text only; decoding costs time and loses bytes that are not UTF-8, so its own fields are read
 * where they are as expected, and its public ones are encoded again where they are not.
 */
import type { Msg } from "@nats-io/transport-node"

/** A message as bytes; all are views and must not be written to. */
export interface MessageBytes {
  readonly subject: Uint8Array
  /** Empty when there is none. */
  readonly reply: Uint8Array
  /** The header block, empty when there is none. */
  readonly headerBlock: Uint8Array
  readonly data: Uint8Array
}

interface Internals {
  readonly _msg: {
    readonly subject: Uint8Array
    readonly reply?: Uint8Array | undefined
    readonly hdr: number
  }
  readonly _rdata: Uint8Array
}

const nothing = new Uint8Array(0)
const encoder = new TextEncoder()

/** The bytes of a message. */
export const bytesOf = (message: Msg): MessageBytes =>
  hasInternals(message) ? fromInternals(message) : fromPublicFields(message)

/** Whether the library's own fields are as expected; a test of this package watches over it. */
export const hasInternals = (message: object): message is Internals =>
  "_msg" in message &&
  "_rdata" in message &&
  message._rdata instanceof Uint8Array &&
  typeof message._msg === "object" &&
  message._msg !== null &&
  "subject" in message._msg &&
  message._msg.subject instanceof Uint8Array &&
  "hdr" in message._msg &&
  typeof message._msg.hdr === "number"

const fromInternals = (message: Internals): MessageBytes => {
  const { subject, reply, hdr } = message._msg
  const all = message._rdata
  return {
    subject,
    reply: reply ?? nothing,
    headerBlock: hdr > 0 ? all.subarray(0, hdr) : nothing,
    data: hdr > 0 ? all.subarray(hdr) : all
  }
}

const fromPublicFields = (message: Msg): MessageBytes => ({
  subject: encoder.encode(message.subject),
  reply: encoder.encode(message.reply ?? ""),
  headerBlock: publicHeaderBlock(message),
  data: message.data
})

const publicHeaderBlock = (message: Msg): Uint8Array => {
  if (message.headers === undefined) return nothing
  const lines = [...message.headers].flatMap(([name, values]) =>
    values.map((value) => `${name}: ${value}\r\n`)
  )
  return encoder.encode(`NATS/1.0\r\n${lines.join("")}\r\n`)
}
