/**
 * The requests that an object remembers, so that a repeated one is not applied again.
 *
 *   [ folded: at most `window` | pending: those of the entries not folded yet ]
 *
 * 1. A request counts as seen by an entry when it is among the last `window` requests before that
 *    entry in the order. That depends on the order alone, so all replicas decide alike.
 * 2. A version never changes. The lookup table of a long log belongs to its newest version; an
 *    older one that is asked builds its own. A short log is searched from end to end.
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
  /** Made when a log that is long is asked for the first time. */
  positions: Map<string, number> | null
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

/** Up to here a search from end to end is cheaper than a table. */
const SHORT_MAX = 192

const tableOf = <O>({ first, seen }: RequestLog<O>): Map<string, number> => {
  const positions = new Map<string, number>()
  for (let index = 0; index < sizeOf(seen); index += 1) {
    positions.set(itemAt(seen, index).request, first + index)
  }
  return positions
}

/** A log that holds what is folded, and nothing pending. */
export const requestLogOf = <O>(window: ReadonlyArray<SeenRequest<O>>): RequestLog<O> => ({
  seen: sequenceOf(Array.from(window)),
  folded: window.length,
  first: 0,
  lookup: { positions: null, stamp: 0 },
  stamp: 0
})

/** The folded part as an array: what the infimum remembers. */
export const foldedRequests = <O>(log: RequestLog<O>): ReadonlyArray<SeenRequest<O>> =>
  toArray(log.seen).slice(0, log.folded)

const searchBackwards = <O>(seen: Sequence<SeenRequest<O>>, request: string): number => {
  let index = sizeOf(seen) - 1
  while (index >= 0 && itemAt(seen, index).request !== request) index -= 1
  return index
}

/** The newest place of a request in the log, -1 if it is not there. */
const indexOf = <O>(log: RequestLog<O>, request: string): number => {
  if (sizeOf(log.seen) <= SHORT_MAX) return searchBackwards(log.seen, request)
  const { lookup, stamp } = log
  if (lookup.stamp === stamp) lookup.positions ??= tableOf(log)
  const table = lookup.stamp === stamp ? lookup.positions : tableOf(log)
  return (table?.get(request) ?? log.first - 1) - log.first
}

/** The output of a request that this version remembers at all, folded or pending. */
export const findRequest = <O>(log: RequestLog<O>, request: string): FoundRequest<O> | null => {
  const index = indexOf(log, request)
  return index < 0
    ? null
    : { output: itemAt(log.seen, index).output, isFolded: index < log.folded, index }
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

/**
 * The lookup for the successor of a version: its own table, if it is the newest, else a new one.
 */
const nextLookup = <O>(log: RequestLog<O>): Lookup =>
  log.lookup.stamp === log.stamp ? log.lookup : { positions: null, stamp: 0 }

/** With the request of one more pending entry. */
export const rememberRequest = <O>(log: RequestLog<O>, seen: SeenRequest<O>): RequestLog<O> => {
  const lookup = nextLookup(log)
  lookup.positions?.set(seen.request, log.first + sizeOf(log.seen))
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
  const lookup = nextLookup(log)
  for (let index = 0; index < excess && lookup.positions !== null; index += 1) {
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
