/**
 * The requests that an object remembers, so that a repeated one is not applied again.
 *
 *   [ folded: at most `window` | pending: those of the entries not folded yet ]
 *
 * 1. A request counts as seen by an entry when it is among the last `window` requests before that
 *    entry in the order. That depends on the order alone, so all replicas decide alike.
 * 2. A version never changes. The lookup table belongs to the newest version; an older one that is
 *    asked builds its own, once.
 */
import type { Sequence } from "./sequence.ts"
import { dropFirst, itemAt, push, sequenceOf, sizeOf, toArray } from "./sequence.ts"

/** A request and the output it had. */
export interface SeenRequest<O> {
  readonly request: string
  readonly output: O
}

/** Shared by the versions of one line; valid for the version whose stamp it bears. */
interface Lookup {
  readonly positions: Map<string, number>
  stamp: number
}

/** The remembered requests of one version. */
export interface RequestLog<O> {
  readonly seen: Sequence<SeenRequest<O>>
  /** How many of `seen` are folded; the others belong to pending entries. */
  readonly folded: number
  /** The position of the first of `seen`, counted from where this line began. */
  readonly first: number
  readonly lookup: Lookup
  readonly stamp: number
}

const tableOf = <O>(seen: Sequence<SeenRequest<O>>, first: number): Map<string, number> => {
  const positions = new Map<string, number>()
  for (let index = 0; index < sizeOf(seen); index += 1) {
    positions.set(itemAt(seen, index).request, first + index)
  }
  return positions
}

/** A log that holds what is folded, and nothing pending. */
export const requestLogOf = <O>(window: ReadonlyArray<SeenRequest<O>>): RequestLog<O> => {
  const seen = sequenceOf(Array.from(window))
  const lookup = { positions: tableOf(seen, 0), stamp: 0 }
  return { seen, folded: window.length, first: 0, lookup, stamp: 0 }
}

/** The folded part as an array: what the infimum remembers. */
export const foldedRequests = <O>(log: RequestLog<O>): ReadonlyArray<SeenRequest<O>> =>
  toArray(log.seen).slice(0, log.folded)

const positionOf = <O>(log: RequestLog<O>, request: string): number | undefined => {
  const table = log.lookup.stamp === log.stamp ? log.lookup.positions : tableOf(log.seen, log.first)
  return table.get(request)
}

/** The output of a request that this version remembers at all, folded or pending. */
export const findRequest = <O>(log: RequestLog<O>, request: string): FoundRequest<O> | null => {
  const position = positionOf(log, request)
  if (position === undefined) return null
  const index = position - log.first
  return { output: itemAt(log.seen, index).output, isFolded: index < log.folded, index }
}

/** Where a request stands in the log. */
export interface FoundRequest<O> {
  readonly output: O
  readonly isFolded: boolean
  readonly index: number
}

/** Whether a found request is among the last `window`, as the order decides. */
export const isWithinWindow = <O>(
  log: RequestLog<O>,
  found: FoundRequest<O>,
  window: number
): boolean => found.index >= sizeOf(log.seen) - window

/** With the request of one more pending entry. */
export const rememberRequest = <O>(log: RequestLog<O>, seen: SeenRequest<O>): RequestLog<O> => {
  const isNewest = log.lookup.stamp === log.stamp
  const lookup = isNewest ? log.lookup : { positions: tableOf(log.seen, log.first), stamp: 0 }
  lookup.positions.set(seen.request, log.first + sizeOf(log.seen))
  lookup.stamp += 1
  return { ...log, seen: push(log.seen, seen), lookup, stamp: lookup.stamp }
}

/** The first `count` pending requests are folded now; what leaves the window is forgotten. */
export const foldRequests = <O>(
  log: RequestLog<O>,
  count: number,
  window: number
): RequestLog<O> => {
  const folded = log.folded + count
  const excess = folded - window
  if (excess <= 0) return count === 0 ? log : { ...log, folded }
  const isNewest = log.lookup.stamp === log.stamp
  const lookup = isNewest ? log.lookup : { positions: tableOf(log.seen, log.first), stamp: 0 }
  for (let index = 0; index < excess; index += 1) {
    const { request } = itemAt(log.seen, index)
    if (lookup.positions.get(request) === log.first + index) lookup.positions.delete(request)
  }
  lookup.stamp += 1
  return {
    seen: dropFirst(log.seen, excess),
    folded: window,
    first: log.first + excess,
    lookup,
    stamp: lookup.stamp
  }
}
