/** The state after a start: the journal's snapshot and the entries after it. */
import { decodeJournal, recover, replay, type State } from "@holdfast/chunk-map"
import { Journal, JournalError } from "@holdfast/storage"
import { Effect, Random, Result, Stream } from "effect"
import { monotonicMillis } from "./monotonic.ts"
import type { Resolved } from "./options.ts"

/** Records that are replayed over one draft. */
const RECORDS_AT_A_TIME = 16

/**
 * Reads the journal. Damage is a failure, never a skipped fact: a service that started with less
 * than it had promised would free what it should keep.
 */
export const recoverState = Effect.fnUntraced(function* (
  options: Resolved
): Effect.fn.Return<State, JournalError, Journal> {
  const journal = yield* Journal
  const contents = yield* journal.recover
  const reportsFrom = yield* Random.nextIntBetween(0, 2 ** 31)
  let state = recover(options.map, [], yield* monotonicMillis, { reportsFrom })
  const replayAll = (records: Stream.Stream<Uint8Array, JournalError>) =>
    records.pipe(
      Stream.grouped(RECORDS_AT_A_TIME),
      Stream.runForEach((some) =>
        Effect.gen(function* () {
          for (const record of some) {
            const decoded = decodeJournal(record, options.crc32)
            if (Result.isFailure(decoded)) return yield* damaged(decoded.failure.message)
            state = replay(state, decoded.success)
          }
        })
      )
    )
  yield* replayAll(contents.snapshot)
  yield* replayAll(contents.entries)
  if (contents.cutEntries > 0) {
    yield* Effect.logWarning(
      `${contents.cutEntries} entries at the journal's end were torn; none of them was answered`
    )
  }
  yield* Effect.logInfo(`the journal names ${state.chunks.size} chunks`)
  return state
})

const damaged = (message: string) =>
  Effect.fail(
    new JournalError({
      code: "corrupt",
      message: `the journal is damaged (${message}); restore it before starting this service`
    })
  )
