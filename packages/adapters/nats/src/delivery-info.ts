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
  /** The how-manieth delivery of its message it is, from 1. */
  deliveries: number
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
const nanoDigits = 9
/** Of nanoseconds since 1970, from 2001 to 2286. */
const usualDigits = 19
const shortTokens = 9
const longTokens = 11

/**
 * Makes a reader for the deliveries of one consumer: what precedes the numbers is the same in all
 * of them, so it is located once; the whole second of the last timestamp is kept as a bigint.
 */
export const makeDeliveryReader = () => {
  const info: DeliveryInfo = { deliveries: 0, position: 0, order: 0, timestamp: 0n, pending: 0 }
  let numbersAt = -1
  let at = 0
  let second = -1
  let secondNanos = 0n

  /** Digits up to a dot or the end; the place is a local one, for it moves with each byte. */
  const nextNumber = (reply: Uint8Array, end: number): number => {
    let value = 0
    let place = at
    while (place < end) {
      const digit = reply[place++]! - zero
      if (digit < 0) break
      value = value * 10 + digit
    }
    at = place
    return value
  }

  /** Reads a reply subject; undefined when it is not one of a delivery. */
  return (reply: Uint8Array): DeliveryInfo | undefined => {
    if (numbersAt === -1) numbersAt = locateNumbers(reply)
    if (numbersAt === -1 || reply[numbersAt - 1] !== dot) return undefined
    const end = reply.length
    at = numbersAt
    info.deliveries = nextNumber(reply, end)
    info.position = nextNumber(reply, end)
    info.order = nextNumber(reply, end)
    const isUsual = reply[at + usualDigits] === dot
    const afterTime = isUsual ? at + usualDigits : reply.indexOf(dot, at)
    const seconds = nextNumber(reply, afterTime - nanoDigits)
    if (seconds !== second) {
      second = seconds
      secondNanos = BigInt(seconds) * nanosPerSecond
    }
    info.timestamp = secondNanos + BigInt(nextNumber(reply, end))
    info.pending = nextNumber(reply, end)
    return info
  }
}

/** What precedes the numbers, the last dot included: the same for all deliveries of a consumer. */
export const replyPrefix = (reply: Uint8Array): string =>
  new TextDecoder().decode(reply.subarray(0, Math.max(0, locateNumbers(reply))))

/**
 * Where a delivery may be answered. Its time and what was pending are left at 0: a server that is
 * answered looks at the numbers before them.
 */
export const answerSubject = (
  prefix: string,
  { deliveries, order, position }: Pick<DeliveryInfo, "deliveries" | "order" | "position">
): string => `${prefix}${deliveries}.${position}.${order}.0.0`

/** Where the count of deliveries begins, or -1 when the subject is not one of a delivery. */
const locateNumbers = (reply: Uint8Array): number => {
  const tokens = new TextDecoder().decode(reply).split(".")
  const isDelivery = tokens[0] === "$JS" && tokens[1] === "ACK"
  if (!isDelivery || (tokens.length !== shortTokens && tokens.length < longTokens)) return -1
  const before = tokens.slice(0, tokens.length === shortTokens ? 4 : 6).join(".")
  return new TextEncoder().encode(before).length + 1
}
