/** Several ordered streams as one. */
import { Effect, Pull, type Scope, Stream } from "effect"

interface Head<A, E> {
  readonly pull: Pull.Pull<ReadonlyArray<A>, E>
  items: ReadonlyArray<A>
  at: number
  ended: boolean
}

/**
 * Merges streams that are each in order; equal elements keep the order of their streams.
 *
 * Holds one chunk of each stream. Runs that belong together are passed on together.
 */
export const mergeSorted = <A, E>(
  streams: ReadonlyArray<Stream.Stream<A, E>>,
  compare: (left: A, right: A) => number
): Stream.Stream<A, E> => {
  const [only, ...others] = streams
  if (only === undefined) return Stream.empty
  if (others.length === 0) return only
  const merged = Effect.gen(function* (): Effect.fn.Return<
    Stream.Stream<A, E>,
    never,
    Scope.Scope
  > {
    const heads = yield* Effect.forEach(streams, (stream) =>
      Effect.map(Stream.toPull(stream), (pull): Head<A, E> => ({
        pull,
        items: [],
        at: 0,
        ended: false
      }))
    )
    const runs = Stream.unfold(undefined, () =>
      Effect.map(Effect.forEach(heads, fill, { discard: true }), () => {
        const run = takeRun(heads, compare)
        return run === undefined ? undefined : ([run, undefined] as const)
      })
    )
    return Stream.flattenIterable(runs)
  })
  return Stream.unwrap(merged)
}

const fill = <A, E>(head: Head<A, E>): Effect.Effect<void, E> => {
  if (head.ended || head.at < head.items.length) return Effect.void
  const pulled = Effect.map(head.pull, (items) => {
    head.items = items
    head.at = 0
  })
  return Pull.catchDone(pulled, () =>
    Effect.sync(() => {
      head.ended = true
      head.items = []
      head.at = 0
    })
  )
}

/** What the smallest head has up to the next head's element; undefined when all have ended. */
const takeRun = <A, E>(
  heads: ReadonlyArray<Head<A, E>>,
  compare: (left: A, right: A) => number
): ReadonlyArray<A> | undefined => {
  const waiting = heads.filter((head) => head.at < head.items.length)
  const smallest = waiting.reduce<Head<A, E> | undefined>((best, head) => {
    if (best === undefined) return head
    return compare(elementOf(head), elementOf(best)) < 0 ? head : best
  }, undefined)
  if (smallest === undefined) return undefined
  const start = smallest.at
  const others = waiting.filter((head) => head !== smallest)
  do smallest.at++
  while (
    smallest.at < smallest.items.length &&
    others.every((head) => compare(elementOf(smallest), elementOf(head)) < 0)
  )
  return smallest.items.slice(start, smallest.at)
}

const elementOf = <A, E>(head: Head<A, E>): A => {
  const element = head.items[head.at]
  if (element === undefined) throw new Error("merge: a head without an element")
  return element
}
