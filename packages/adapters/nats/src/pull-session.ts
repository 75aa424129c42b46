/**
 * One consumer of a stream on the server and the requests for messages that are under way at it.
 *
 *     slot 1 ──▶ NEXT {batch, max_bytes, expires, idle_heartbeat} ──▶ messages … ▶ slot is free
 *     slot 2 ──▶ NEXT …                                            (two, so that one overlaps)
 *
 * Each slot has its own inbox, so that what arrives is known to belong to its request.
 *
 * 1. Messages reach `onRecord` in the consumer's order with none missing; anything else ends the
 *    session, and the next one starts behind the last record.
 * 2. A request that ran out is made again, so that an idle stream stays watched.
 * 3. What is asked for and what is held fit the limits; see {@link FetchLimits}.
 */
import type { SourceRecord } from "@holdfast/records"
import { type DeliveryInfo, makeDeliveryReader } from "./delivery-info.ts"
import { parseHeaderBlock } from "./header-block.ts"
import type { MessageBytes } from "./message-bytes.ts"
import { readStatus } from "./pull-status.ts"

/** Bounds of one request; twice as much is held or asked for at most. */
export interface FetchLimits {
  readonly records: number
  /** At least the server's largest message. */
  readonly bytes: number
}

/** Why a session ended. */
export interface SessionEnd {
  readonly reason: string
}

/** What a session needs of a connection. */
export interface PullWire {
  readonly newInbox: () => string
  /** Takes what comes to an inbox until the returned function is called. */
  readonly listen: (inbox: string, listener: PullListener) => () => void
  /** Asks the consumer for the next messages, to be sent to the inbox. */
  readonly ask: (request: PullRequest, inbox: string) => void
}

/** What comes to an inbox; `onRefusal` when the server does not let this client listen. */
export interface PullListener {
  readonly onMessage: (message: MessageBytes) => void
  readonly onRefusal: (text: string) => void
}

/** A request for the next messages as the server reads it; times in nanoseconds. */
export interface PullRequest {
  readonly batch: number
  readonly max_bytes?: number
  readonly expires: number
  readonly idle_heartbeat: number
}

/** What a session works on and whom it tells. */
export interface SessionOptions {
  readonly wire: PullWire
  readonly heartbeatMs: number
  readonly limits: FetchLimits
  /** What is held for the reader now. */
  readonly held: () => { readonly records: number; readonly bytes: number }
  /** `reply` is where the delivery may be acknowledged. */
  readonly onRecord: (record: SourceRecord, info: DeliveryInfo, reply: Uint8Array) => void
  readonly onEnd: (end: SessionEnd) => void
}

/** A running session. */
export interface PullSession {
  /** Asks for more where there is room; call it when records were taken. */
  readonly refill: () => void
  /** Whether a request was silent for two calls in a row, though the server owes a heartbeat. */
  readonly isSilent: () => boolean
  /** Forgets everything; no callback comes afterwards. */
  readonly close: () => void
}

interface Slot {
  readonly inbox: string
  readonly stopListening: () => void
  /** Still owed by the request under way; 0 when the slot is free. */
  askedRecords: number
  askedBytes: number
  received: number
  quietChecks: number
}

const slotCount = 2
const heartbeatsPerRequest = 10
const nanosPerMillisecond = 1_000_000

/** Opens a session on a consumer that exists. */
export const openPullSession = (options: SessionOptions): PullSession => {
  const readDelivery = makeDeliveryReader()
  const readRecord = makeRecordReader()
  let expectedOrder = 1
  let isOpen = true
  // Set when the next record is larger than the byte limit; it is then asked for by itself.
  let nextIsLarge = false

  const end = (reason: string): void => {
    if (!isOpen) return
    isOpen = false
    options.onEnd({ reason })
  }

  const request = (slot: Slot): void => {
    slot.received = 0
    slot.quietChecks = 0
    slot.askedRecords = nextIsLarge ? 1 : options.limits.records
    slot.askedBytes = options.limits.bytes
    const body: PullRequest = {
      batch: slot.askedRecords,
      ...(nextIsLarge ? {} : { max_bytes: slot.askedBytes }),
      expires: options.heartbeatMs * heartbeatsPerRequest * nanosPerMillisecond,
      idle_heartbeat: options.heartbeatMs * nanosPerMillisecond
    }
    options.wire.ask(body, slot.inbox)
  }

  const refill = (): void => {
    if (!isOpen) return
    for (const slot of slots) {
      const held = options.held()
      let records = held.records
      let bytes = held.bytes
      for (const each of slots) {
        records += each.askedRecords
        bytes += each.askedBytes
      }
      const hasRoom = records <= options.limits.records && bytes <= options.limits.bytes
      const isAlone = !nextIsLarge || records === 0
      if (slot.askedRecords === 0 && hasRoom && isAlone) request(slot)
    }
  }

  const free = (slot: Slot): void => {
    slot.askedRecords = 0
    slot.askedBytes = 0
    refill()
  }

  const onData = (slot: Slot, parts: MessageBytes): void => {
    const info = readDelivery(parts.reply)
    if (info === undefined) return end("a message came that is no delivery")
    if (info.order !== expectedOrder) {
      return end(`delivery ${info.order} came where ${expectedOrder} was due`)
    }
    expectedOrder += 1
    nextIsLarge = false
    slot.received += 1
    options.onRecord(readRecord(parts, info), info, parts.reply)
    slot.askedRecords -= 1
    if (slot.askedRecords === 0) free(slot)
  }

  const onMessage = (slot: Slot, parts: MessageBytes): void => {
    if (!isOpen) return
    slot.quietChecks = 0
    if (parts.reply.length > 0) return onData(slot, parts)
    const status = readStatus(parts.headerBlock)
    switch (status.kind) {
      case "heartbeat":
        return
      case "request-over":
        return free(slot)
      case "next-is-large":
        nextIsLarge = nextIsLarge || slot.received === 0
        return free(slot)
      case "consumer-lost":
        return end(status.text)
    }
  }

  const slots = Array.from({ length: slotCount }, () => {
    const inbox = options.wire.newInbox()
    const slot: Slot = {
      inbox,
      stopListening: options.wire.listen(inbox, {
        onMessage: (message) => onMessage(slot, message),
        onRefusal: end
      }),
      askedRecords: 0,
      askedBytes: 0,
      received: 0,
      quietChecks: 0
    }
    return slot
  })

  const isSilent = (): boolean => {
    for (const slot of slots) if (slot.askedRecords > 0) slot.quietChecks += 1
    return slots.some((slot) => slot.quietChecks > 2)
  }

  const close = (): void => {
    isOpen = false
    for (const slot of slots) slot.stopListening()
  }
  refill()
  return { refill, isSilent, close }
}

const noHeaders: SourceRecord["headers"] = []

const isSame = (one: Uint8Array, other: Uint8Array): boolean => {
  if (one.length !== other.length) return false
  for (let index = 0; index < one.length; index++) if (one[index] !== other[index]) return false
  return true
}

/**
 * Makes records of messages. Neighbours of one subject share its bytes: a view of a record's own
 * would live as long as the record is in flight, which costs the collector of garbage more than
 * comparing does.
 */
const makeRecordReader = () => {
  let subject: Uint8Array = new Uint8Array(0)
  return (parts: MessageBytes, info: DeliveryInfo): SourceRecord => {
    if (!isSame(subject, parts.subject)) subject = parts.subject
    return {
      position: BigInt(info.position),
      timestamp: info.timestamp,
      subject,
      headers: parts.headerBlock.length === 0 ? noHeaders : parseHeaderBlock(parts.headerBlock),
      data: parts.data
    }
  }
}
