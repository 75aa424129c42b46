/** What happened on a memory network: a bounded trace and counters, the same for the same seed. */

/**
 * One step of one message, or a fault. `delivered`, `lost`, `duplicated`, `held`, `overloaded` and
 * `unheard` (nobody listens, or no longer) are what the network did with it.
 */
export interface NetworkEvent {
  /** Nanoseconds of the network's monotonic clock since it was made. */
  readonly at: bigint
  readonly kind:
    | "request"
    | "reply"
    | "publish"
    | "delivered"
    | "lost"
    | "duplicated"
    | "held"
    | "overloaded"
    | "unheard"
    | "fault"
  readonly from: string
  readonly to: string
  /** A reply's is its request's with `_reply.` before it; a fault's is the fault as JSON. */
  readonly subject: string
  /** The message's number in order of sending; a reply carries its request's, a fault has 0. */
  readonly message: number
}

/** How often each kind of event happened. */
export type NetworkCounters = Readonly<Record<NetworkEvent["kind"], number>>

/** Collects events; keeps the newest `eventsMax` and counts all. */
export interface NetworkTrace {
  readonly add: (event: NetworkEvent) => void
  readonly events: () => ReadonlyArray<NetworkEvent>
  readonly counters: () => NetworkCounters
}

/**
 * Makes an empty trace; `add` is O(1) amortised, memory is bounded by twice `eventsMax`. `observe`
 * is told of every event.
 */
export const makeNetworkTrace = (
  eventsMax: number,
  observe: (event: NetworkEvent) => void = () => undefined
): NetworkTrace => {
  let events: Array<NetworkEvent> = []
  const counters = {
    request: 0,
    reply: 0,
    publish: 0,
    delivered: 0,
    lost: 0,
    duplicated: 0,
    held: 0,
    overloaded: 0,
    unheard: 0,
    fault: 0
  }
  return {
    add: (event) => {
      counters[event.kind] += 1
      observe(event)
      events.push(event)
      if (events.length >= 2 * eventsMax) events = events.slice(events.length - eventsMax)
    },
    events: () => (eventsMax === 0 ? [] : events.slice(-eventsMax)),
    counters: () => ({ ...counters })
  }
}
