/**
 * The RecordSpool port: an embedded, durable stream that a program appends to and a RecordSource
 * reads. It stands in for JetStream where there is none.
 *
 * 1. An append that was answered survives a crash.
 * 2. Positions of one stream are dense, start at 1 and are never used twice.
 * 3. A repeat of an append with the same `appendId` adds nothing and answers the same positions.
 */
import type { Effect } from "effect"
import { Context, Schema } from "effect"
import type { RecordHeader } from "./record-source.ts"

/** A record that has no position yet. */
export interface NewRecord {
  readonly timestamp: bigint
  readonly subject: Uint8Array
  readonly headers: ReadonlyArray<RecordHeader>
  readonly data: Uint8Array
}

/** What a stream holds. */
export interface SpoolStatus {
  readonly stream: string
  /** The oldest position still held, or one past the newest when it holds none. */
  readonly first: bigint
  /** The newest position ever given out, 0 when none was. */
  readonly last: bigint
  readonly bytes: number
}

/**
 * The spool refused or failed: `full` at its byte limit or on a full disk, `invalid` names what.
 */
export class RecordSpoolError extends Schema.TaggedError<RecordSpoolError>()("RecordSpoolError", {
  code: Schema.Literals(["full", "invalid", "unavailable", "not-found"]),
  message: Schema.String
}) {}

/** Holds streams of records; see the module comment for the promises. */
export class RecordSpool extends Context.Service<
  RecordSpool,
  {
    readonly append: (options: {
      readonly stream: string
      /** Names this append for repeats; at most 64 bytes; the latest 1,024 a stream are kept. */
      readonly appendId: string
      readonly records: ReadonlyArray<NewRecord>
    }) => Effect.Effect<{ readonly first: bigint; readonly last: bigint }, RecordSpoolError>
    readonly status: Effect.Effect<ReadonlyArray<SpoolStatus>, RecordSpoolError>
    /** Forgets everything up to a position. */
    readonly purge: (options: {
      readonly stream: string
      readonly upTo: bigint
    }) => Effect.Effect<void, RecordSpoolError>
  }
>()("@holdfast/records/RecordSpool") {}
