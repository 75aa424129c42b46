/** The listeners of a network, found by subject. */
import type { Listener } from "./listener.ts"
import { matchesSubject } from "./subject.ts"

/** Listeners in the order in which they began to listen. */
export interface ListenerTable {
  readonly add: (listener: Listener) => void
  readonly remove: (listener: Listener) => void
  /** Those whose subject or pattern a literal subject falls under: O(found + patterns). */
  readonly matching: (subject: string) => ReadonlyArray<Listener>
}

interface Entry {
  readonly listener: Listener
  readonly order: number
}

const hasWildcard = (subject: string): boolean => subject.includes("*") || subject.includes(">")

const byOrder = (left: Entry, right: Entry): number => left.order - right.order

/** Makes an empty table. */
export const makeListenerTable = (): ListenerTable => {
  const literals = new Map<string, ReadonlyArray<Entry>>()
  let patterns: ReadonlyArray<Entry> = []
  let nextOrder = 0

  const without = (entries: ReadonlyArray<Entry>, listener: Listener): ReadonlyArray<Entry> =>
    entries.filter((entry) => entry.listener !== listener)

  return {
    add: (listener) => {
      const { subject } = listener.options
      const entry = { listener, order: nextOrder++ }
      if (hasWildcard(subject)) patterns = [...patterns, entry]
      else literals.set(subject, [...(literals.get(subject) ?? []), entry])
    },
    remove: (listener) => {
      const { subject } = listener.options
      patterns = without(patterns, listener)
      const rest = without(literals.get(subject) ?? [], listener)
      if (rest.length === 0) literals.delete(subject)
      else literals.set(subject, rest)
    },
    matching: (subject) => {
      const exact = literals.get(subject) ?? []
      const broad = patterns.filter(({ listener }) =>
        matchesSubject(listener.options.subject, subject)
      )
      const found = broad.length === 0 ? exact : [...exact, ...broad].sort(byOrder)
      return found.map(({ listener }) => listener)
    }
  }
}
