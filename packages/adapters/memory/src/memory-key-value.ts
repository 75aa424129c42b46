/**
 * A key-value store with revisions that any number of services share, as a broker's would be: it
 * outlives them all. Checkpoints and leases stand on it.
 *
 * 1. A put with a stale expectation changes nothing; puts of one key happen one after the other.
 * 2. Revisions rise over all keys and are never used twice.
 * 3. A refused operation changes nothing; one whose answer was lost has happened.
 */
import { Data, Effect, Option, Schema } from "effect"

/**
 * A change of the store. `Unavailable`: so many next operations fail and change nothing.
 * `LoseAnswers`: so many next puts happen, and fail as far as the caller can tell. `DelayMillis`:
 * how long each operation takes before and after it happens. `Capacity`: all bytes that fit.
 * `Overwrite`: a value becomes other bytes under the same revision, as damage would.
 */
export const KeyValueFault = Schema.TaggedUnion({
  Unavailable: { count: Schema.Natural },
  LoseAnswers: { count: Schema.Natural },
  DelayMillis: { millis: Schema.Natural },
  Capacity: { bytes: Schema.Natural },
  Overwrite: { key: Schema.String, value: Schema.Uint8Array }
})
/** A change of the store. */
export type KeyValueFault = typeof KeyValueFault.Type

/** A value as stored. */
export interface KeyValueEntry {
  readonly key: string
  readonly value: Uint8Array
  readonly revision: bigint
}

/** Why the store refused. */
export class KeyValueRefusal extends Data.TaggedError("KeyValueRefusal")<{
  readonly code: "conflict" | "unavailable" | "full" | "too-large"
  readonly message: string
}> {}

/** A shared store; see the module comment. */
export interface MemoryKeyValue {
  readonly apply: (fault: KeyValueFault) => Effect.Effect<void>
  readonly get: (key: string) => Effect.Effect<Option.Option<KeyValueEntry>, KeyValueRefusal>
  /** Every value whose key has the prefix, in key order. */
  readonly entries: (prefix: string) => Effect.Effect<ReadonlyArray<KeyValueEntry>, KeyValueRefusal>
  /** Stores over the expected revision, or as the first value; answers the new revision. */
  readonly put: (options: {
    readonly key: string
    readonly value: Uint8Array
    readonly expected: Option.Option<bigint>
  }) => Effect.Effect<bigint, KeyValueRefusal>
}

interface StoreState {
  readonly entries: Map<string, KeyValueEntry>
  readonly valueBytesMax: number
  readonly observe: (entry: KeyValueEntry) => void
  revision: bigint
  unavailable: number
  lostAnswers: number
  delayMillis: number
  capacity: number
}

const refuse = (code: KeyValueRefusal["code"], message: string) =>
  Effect.fail(new KeyValueRefusal({ code, message }))

const storedBytes = (state: StoreState): number => {
  let bytes = 0
  for (const { value } of state.entries.values()) bytes += value.length
  return bytes
}

const put = (state: StoreState, key: string, value: Uint8Array, expected: Option.Option<bigint>) =>
  Effect.suspend(() => {
    const stored = state.entries.get(key)
    if (stored?.revision !== Option.getOrUndefined(expected)) {
      return refuse("conflict", `${key} is not at the expected revision`)
    }
    if (value.length > state.valueBytesMax) {
      return refuse("too-large", `${value.length} bytes is over ${state.valueBytesMax} a value`)
    }
    const growth = value.length - (stored?.value.length ?? 0)
    if (growth > 0 && storedBytes(state) + growth > state.capacity) {
      return refuse("full", `no room for ${growth} more bytes`)
    }
    state.revision += 1n
    const entry: KeyValueEntry = { key, value: value.slice(), revision: state.revision }
    state.entries.set(key, entry)
    state.observe(entry)
    return Effect.succeed(state.revision)
  })

const applyFault = (state: StoreState, fault: KeyValueFault): void => {
  switch (fault._tag) {
    case "Unavailable":
      state.unavailable = fault.count
      return
    case "LoseAnswers":
      state.lostAnswers = fault.count
      return
    case "DelayMillis":
      state.delayMillis = fault.millis
      return
    case "Capacity":
      state.capacity = fault.bytes
      return
    case "Overwrite": {
      const stored = state.entries.get(fault.key)
      if (stored === undefined) return
      state.entries.set(fault.key, { ...stored, value: fault.value.slice() })
      return
    }
  }
}

/** Bounds of a store, and who is told of each value as it is stored, answered or not. */
export interface MemoryKeyValueOptions {
  readonly valueBytesMax?: number
  readonly observe?: (entry: KeyValueEntry) => void
}

const make = (options: MemoryKeyValueOptions = {}): MemoryKeyValue => {
  const state: StoreState = {
    entries: new Map(),
    valueBytesMax: options.valueBytesMax ?? 1_048_576,
    observe: options.observe ?? (() => undefined),
    revision: 0n,
    unavailable: 0,
    lostAnswers: 0,
    delayMillis: 0,
    capacity: Number.MAX_SAFE_INTEGER
  }
  const travel = Effect.suspend(() =>
    state.delayMillis > 0 ? Effect.sleep(state.delayMillis) : Effect.yieldNow
  )
  const available = Effect.suspend(() => {
    if (state.unavailable === 0) return Effect.void
    state.unavailable -= 1
    return refuse("unavailable", "the store did not answer")
  })
  const answered = Effect.suspend(() => {
    if (state.lostAnswers === 0) return Effect.void
    state.lostAnswers -= 1
    return refuse("unavailable", "the answer was lost")
  })
  const own = (entry: KeyValueEntry): KeyValueEntry => ({ ...entry, value: entry.value.slice() })
  const reading = <A>(read: () => A) =>
    Effect.gen(function* () {
      yield* travel
      yield* available
      const found = read()
      yield* travel
      return found
    })
  return {
    apply: (fault) => Effect.sync(() => applyFault(state, fault)),
    get: (key) => reading(() => Option.map(Option.fromUndefinedOr(state.entries.get(key)), own)),
    entries: (prefix) =>
      reading(() =>
        [...state.entries.values()]
          .filter(({ key }) => key.startsWith(prefix))
          .sort((left, right) => (left.key < right.key ? -1 : 1))
          .map(own)
      ),
    put: Effect.fnUntraced(function* ({ key, value, expected }) {
      yield* travel
      yield* available
      const revision = yield* put(state, key, value, expected)
      yield* travel
      yield* answered
      return revision
    })
  }
}

/** Makes shared stores. */
export const MemoryKeyValue = {
  /** An empty store without faults. */
  make
}
