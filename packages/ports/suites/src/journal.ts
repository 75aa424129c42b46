/**
 * The contract of the Journal port, as tests that any adapter runs. The numbers in the test names
 * are those of the port's module comment.
 */
import { assert, describe, it } from "@effect/vitest"
import { Journal, type JournalError } from "@holdfast/storage"
import type { Scope } from "effect"
import { Context, Effect, Layer, Stream } from "effect"

/** One journal's storage, which can be opened any number of times. */
export interface JournalStorage {
  /** Opens the journal on this storage. */
  readonly layer: Layer.Layer<Journal, JournalError>
}

/** How to reach the adapter under test, and how to harm its storage. */
export interface JournalContract<Storage extends JournalStorage> {
  readonly name: string
  /** Fresh, empty storage for one test. */
  readonly storage: Effect.Effect<Storage, unknown, Scope.Scope>
  /** The largest entry it takes, when it has such a limit. */
  readonly entryBytesMax?: number
  /** Cuts the storage inside the latest append, as a power failure would. The journal is closed. */
  readonly tearTail?: (storage: Storage) => Effect.Effect<void, unknown>
  /** Changes a byte of the first append. The journal is closed. */
  readonly damageFirst?: (storage: Storage) => Effect.Effect<void, unknown>
  /** Makes an open journal's storage refuse a few megabytes, and gives the room back. */
  readonly room?: {
    readonly take: (storage: Storage) => Effect.Effect<void, unknown>
    readonly giveBack: (storage: Storage) => Effect.Effect<void, unknown>
  }
}

/** Runs the Journal contract against an adapter. */
export const describeJournalContract = <Storage extends JournalStorage>(
  contract: JournalContract<Storage>
): void => {
  describe(`Journal contract: ${contract.name}`, () => {
    describeAppends(contract)
    describeCompaction(contract)
    describeDamage(contract)
    describeRoom(contract)
  })
}

const encoder = new TextEncoder()
const decoder = new TextDecoder()
const bytes = (values: ReadonlyArray<string>) => values.map((value) => encoder.encode(value))

/** Runs a use of the journal that ends with the journal closed. */
const withJournal = <A, E>(
  storage: JournalStorage,
  use: (journal: Journal["Service"]) => Effect.Effect<A, E, Scope.Scope>
) =>
  Effect.scoped(
    Effect.flatMap(Layer.build(Layer.fresh(storage.layer)), (context) =>
      use(Context.get(context, Journal))
    )
  )

const recoverAll = Effect.fnUntraced(function* (journal: Journal["Service"]) {
  const contents = yield* journal.recover
  const texts = (stream: Stream.Stream<Uint8Array, JournalError>) =>
    Effect.map(Stream.runCollect(stream), (all) => all.map((each) => decoder.decode(each)))
  const snapshot = yield* texts(contents.snapshot)
  const entries = yield* texts(contents.entries)
  return { snapshot, entries, cutEntries: contents.cutEntries }
})

const recovered = (storage: JournalStorage) => withJournal(storage, recoverAll)

const describeAppends = <Storage extends JournalStorage>(
  contract: JournalContract<Storage>
): void => {
  it.live("3: a new journal recovers as empty", () =>
    Effect.gen(function* () {
      const storage = yield* contract.storage
      const empty = { snapshot: [], entries: [], cutEntries: 0 }
      assert.deepStrictEqual(yield* recovered(storage), empty)
      assert.deepStrictEqual(yield* recovered(storage), empty)
    })
  )

  it.live("1: what was appended is recovered after a reopen, in order", () =>
    Effect.gen(function* () {
      const storage = yield* contract.storage
      yield* withJournal(storage, (journal) => journal.append(bytes(["a", "", "c"])))
      yield* withJournal(storage, (journal) =>
        Effect.andThen(journal.append(bytes(["d"])), journal.append(bytes(["e", "f"])))
      )
      const { entries } = yield* recovered(storage)
      assert.deepStrictEqual(entries, ["a", "", "c", "d", "e", "f"])
    })
  )

  it.live("1: appends issued together are all kept, each one's entries side by side", () =>
    Effect.gen(function* () {
      const storage = yield* contract.storage
      const numbers = Array.from({ length: 20 }, (_, index) => index)
      yield* withJournal(storage, (journal) =>
        Effect.forEach(numbers, (n) => journal.append(bytes([`${n} first`, `${n} second`])), {
          concurrency: "unbounded"
        })
      )
      const { entries } = yield* recovered(storage)
      const pairs = numbers.map((n) => entries.slice(2 * n, 2 * n + 2).join(", "))
      const expected = numbers.map((n) => `${n} first, ${n} second`)
      assert.deepStrictEqual(pairs.sort(), expected.sort())
    })
  )

  it.live("1: an append of nothing changes nothing", () =>
    Effect.gen(function* () {
      const storage = yield* contract.storage
      yield* withJournal(storage, (journal) => journal.append([]))
      assert.deepStrictEqual((yield* recovered(storage)).entries, [])
    })
  )

  it.live("entries keep every byte value, and the caller may reuse its buffer", () =>
    Effect.gen(function* () {
      const storage = yield* contract.storage
      const all = Uint8Array.from({ length: 256 }, (_, index) => index)
      const buffer = all.slice()
      const found = yield* withJournal(storage, (journal) =>
        Effect.gen(function* () {
          yield* journal.append([buffer])
          buffer.fill(0)
          const contents = yield* journal.recover
          return yield* Stream.runCollect(contents.entries)
        })
      )
      assert.deepStrictEqual(
        found.map((entry) => Array.from(entry)),
        [Array.from(all)]
      )
    })
  )

  it.live("`size` counts entries and bytes since the snapshot, also after a reopen", () =>
    Effect.gen(function* () {
      const storage = yield* contract.storage
      const grown = yield* withJournal(storage, (journal) =>
        Effect.gen(function* () {
          assert.deepStrictEqual(yield* journal.size, { entries: 0, bytes: 0 })
          yield* journal.append(bytes(["abc", "de"]))
          return yield* journal.size
        })
      )
      assert.strictEqual(grown.entries, 2)
      assert.isAtLeast(grown.bytes, 5)
      const reopened = yield* withJournal(storage, (journal) => journal.size)
      assert.strictEqual(reopened.entries, 2)
      yield* withJournal(storage, (journal) => journal.compact(bytes(["s"])))
      const compacted = yield* withJournal(storage, (journal) => journal.size)
      assert.strictEqual(compacted.entries, 0)
    })
  )
}

const describeCompaction = <Storage extends JournalStorage>(
  contract: JournalContract<Storage>
): void => {
  it.live("2: a snapshot replaces everything before it and keeps what comes after", () =>
    Effect.gen(function* () {
      const storage = yield* contract.storage
      yield* withJournal(storage, (journal) =>
        Effect.gen(function* () {
          yield* journal.append(bytes(["a", "b"]))
          yield* journal.compact(bytes(["ab", "", "more"]))
          yield* journal.append(bytes(["c"]))
        })
      )
      const first = yield* recovered(storage)
      assert.deepStrictEqual(first, {
        snapshot: ["ab", "", "more"],
        entries: ["c"],
        cutEntries: 0
      })
      yield* withJournal(storage, (journal) => journal.compact(bytes(["abc"])))
      const second = yield* recovered(storage)
      assert.deepStrictEqual(second, { snapshot: ["abc"], entries: [], cutEntries: 0 })
    })
  )

  it.live("2: a snapshot of several megabytes comes back part by part", () =>
    Effect.gen(function* () {
      const storage = yield* contract.storage
      const parts = Array.from({ length: 64 }, (_, n) => new Uint8Array(65_536).fill(n))
      yield* withJournal(storage, (journal) => journal.compact(parts))
      const sums = yield* withJournal(storage, (journal) =>
        Effect.flatMap(journal.recover, ({ snapshot }) =>
          Stream.runCollect(Stream.map(snapshot, (part) => `${part.length} of ${part[9]}`))
        )
      )
      assert.deepStrictEqual(
        sums,
        parts.map((_, n) => `65536 of ${n}`)
      )
    })
  )

  it.live("4: a journal that is open cannot be opened again; after it closed it can", () =>
    Effect.gen(function* () {
      const storage = yield* contract.storage
      yield* withJournal(storage, () =>
        Effect.gen(function* () {
          const error = yield* Effect.flip(recovered(storage))
          assert.strictEqual(error.code, "locked")
        })
      )
      yield* recovered(storage)
    })
  )
}

const describeDamage = <Storage extends JournalStorage>(
  contract: JournalContract<Storage>
): void => {
  const { tearTail, damageFirst } = contract
  if (tearTail !== undefined)
    it.live("3: a torn tail is cut and counted, and appending goes on after it", () =>
      Effect.gen(function* () {
        const storage = yield* contract.storage
        yield* withJournal(storage, (journal) =>
          Effect.andThen(
            journal.append(bytes(["a", "b"])),
            journal.append(bytes(["torn".repeat(99)]))
          )
        )
        yield* tearTail(storage)
        const cut = yield* recovered(storage)
        assert.deepStrictEqual(cut.entries, ["a", "b"])
        assert.isAtLeast(cut.cutEntries, 1)
        yield* withJournal(storage, (journal) => journal.append(bytes(["c"])))
        const { entries, cutEntries } = yield* recovered(storage)
        assert.deepStrictEqual({ entries, cutEntries }, { entries: ["a", "b", "c"], cutEntries: 0 })
      })
    )

  if (damageFirst !== undefined)
    it.live("3: damage before the tail is corrupt, never skipped", () =>
      Effect.gen(function* () {
        const storage = yield* contract.storage
        yield* withJournal(storage, (journal) =>
          Effect.forEach(["a", "b", "c"], (each) => journal.append(bytes([each.repeat(64)])))
        )
        yield* damageFirst(storage)
        const error = yield* Effect.flip(recovered(storage))
        assert.strictEqual(error.code, "corrupt")
      })
    )
}

const describeRoom = <Storage extends JournalStorage>(contract: JournalContract<Storage>): void => {
  const { room, entryBytesMax } = contract
  if (room !== undefined)
    it.live("1: an append or a snapshot that does not fit is full and leaves nothing behind", () =>
      Effect.gen(function* () {
        const storage = yield* contract.storage
        yield* withJournal(storage, (journal) => journal.append(bytes(["kept"])))
        const large = new Uint8Array(4_194_304)
        yield* withJournal(storage, (journal) =>
          Effect.gen(function* () {
            yield* room.take(storage)
            const appended = yield* Effect.flip(journal.append([large.subarray(0, 8), large]))
            const compacted = yield* Effect.flip(journal.compact([large, large]))
            assert.deepStrictEqual([appended.code, compacted.code], ["full", "full"])
            yield* room.giveBack(storage)
            yield* journal.append(bytes(["after"]))
          })
        )
        const { snapshot, entries } = yield* recovered(storage)
        assert.deepStrictEqual({ snapshot, entries }, { snapshot: [], entries: ["kept", "after"] })
      })
    )

  if (entryBytesMax !== undefined) {
    it.live("an entry over the limit is too-large and its append leaves nothing", () =>
      Effect.gen(function* () {
        const storage = yield* contract.storage
        yield* withJournal(storage, (journal) =>
          Effect.gen(function* () {
            const entries = [...bytes(["small"]), new Uint8Array(entryBytesMax + 1)]
            const error = yield* Effect.flip(journal.append(entries))
            assert.strictEqual(error.code, "too-large")
            yield* journal.append([new Uint8Array(entryBytesMax)])
          })
        )
        const lengths = (yield* recovered(storage)).entries.map((entry) => entry.length)
        assert.deepStrictEqual(lengths, [entryBytesMax])
      })
    )
  }
}
