/**
 * The Journal port: one service's log of durable facts.
 *
 *     [ snapshot parts ] + [ entry, entry, entry ... ]  ──▶  the state after a restart
 *
 * 1. `append` answers when all its entries are durable, in order; a failed append left none of
 *    them.
 * 2. `compact` replaces everything appended before it by the given parts, atomically.
 * 3. `recover` yields what is durable and intact. Damage is named, never skipped in silence: a torn
 *    tail is cut and counted; damage before the tail is `corrupt`.
 * 4. One process at a time: opening a journal that another process holds fails.
 */
import type { Effect, Stream } from "effect"
import { Context, Schema } from "effect"

/**
 * A journal failed. `full`: the disk or the configured size; nothing was written. `corrupt`: a
 * checksum or the format is wrong. `locked`: another process holds it. `unavailable`: the disk
 * refused. `too-large`: an entry over the limit.
 */
export class JournalError extends Schema.TaggedError<JournalError>()("JournalError", {
  code: Schema.Literals(["full", "corrupt", "locked", "unavailable", "too-large"]),
  message: Schema.String
}) {}

/** What a recovery found. */
export interface JournalContents {
  /** The latest snapshot's parts, in order; empty when there is none. */
  readonly snapshot: Stream.Stream<Uint8Array, JournalError>
  /** The entries appended since that snapshot, in order. */
  readonly entries: Stream.Stream<Uint8Array, JournalError>
  /** Entries cut from a torn tail; they were never answered. */
  readonly cutEntries: number
}

/** Keeps one service's facts; see the module comment for the promises. */
export class Journal extends Context.Service<
  Journal,
  {
    readonly recover: Effect.Effect<JournalContents, JournalError>
    readonly append: (entries: ReadonlyArray<Uint8Array>) => Effect.Effect<void, JournalError>
    readonly compact: (parts: Iterable<Uint8Array>) => Effect.Effect<void, JournalError>
    /** Entries and bytes since the latest snapshot. */
    readonly size: Effect.Effect<{ readonly entries: number; readonly bytes: number }, JournalError>
  }
>()("@holdfast/storage/Journal") {}
