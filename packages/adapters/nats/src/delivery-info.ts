/**
 * What JetStream tells about a delivery, in the reply subject:
 *
 *     $JS.ACK.<stream>.<consumer>.<deliveries>.<position>.<order>.<timestamp>.<pending>
 *     $JS.ACK.<domain>.<account>.<stream>.<consumer>.<deliveries>.<position>...[.<more>]
 *
 * It is read from bytes without making text, because it is read once a record.
 */

/** A delivery; filled in place by {@link readDelivery} so that a record costs no object for it. */
export interface DeliveryInfo {
  /** The stream sequence. */
  position: number
  /** The how-manieth message of this consumer it is, from 1. */
  order: number
  /** Nanoseconds since 1970. */
  timestamp: bigint
  /** Messages that the consumer has yet to be sent after this one. */
  pending: number
}

const dot = 46
const zero = 48
const nanosPerSecond = 1_000_000_000n
const shortTokens = 9
const longTokens = 11

/** A delivery to fill, and the whole second of the last one, whose bigint is kept. */
export const makeDeliveryReader = () => {
  const info: DeliveryInfo = { position: 0, order: 0, timestamp: 0n, pending: 0 }
  const dots = new Int32Array(16)
  let second = -1
  let secondNanos = 0n

  /** Reads a reply subject; undefined when it is not one of a delivery. */
  const read = (reply: Uint8Array): DeliveryInfo | undefined => {
    if (reply.length < 8 || reply[0] !== 36 || reply[4] !== 65) return undefined
    let count = 0
    for (let at = 0; at < reply.length && count < dots.length; at += 1) {
      if (reply[at] === dot) dots[count++] = at
    }
    const tokens = count + 1
    if (tokens !== shortTokens && tokens < longTokens) return undefined
    const deliveries = tokens === shortTokens ? 4 : 6
    const numberAt = (token: number): number =>
      digits(reply, (dots[token - 1] ?? 0) + 1, token < count ? (dots[token] ?? 0) : reply.length)
    info.position = numberAt(deliveries + 1)
    info.order = numberAt(deliveries + 2)
    info.pending = numberAt(deliveries + 4)
    const start = (dots[deliveries + 2] ?? 0) + 1
    const end = dots[deliveries + 3] ?? reply.length
    const seconds = digits(reply, start, end - 9)
    if (seconds !== second) {
      second = seconds
      secondNanos = BigInt(seconds) * nanosPerSecond
    }
    info.timestamp = secondNanos + BigInt(digits(reply, Math.max(start, end - 9), end))
    return info
  }
  return read
}

const digits = (bytes: Uint8Array, start: number, end: number): number => {
  let value = 0
  for (let at = start; at < end; at += 1) value = value * 10 + ((bytes[at] ?? zero) - zero)
  return value
}
