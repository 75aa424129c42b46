/**
 * Takes records out of a text and appends them to a stream, in batches that fit one message.
 *
 * 1. Records go in order; a batch is sent only when the one before it is durable.
 * 2. A batch that is sent again has the same id: it is stored once.
 * 3. A failure says up to which record everything is stored, so that the rest can follow.
 */
import { type TextFormat, textSource } from "@holdfast/adapter-file"
import { type CommandFailure, failure, sentenceOf } from "@holdfast/process"
import { type NewRecord, RecordSource } from "@holdfast/records"
import { packedBytes } from "@holdfast/wire"
import { Clock, Effect, Option } from "effect"
import type { Readable } from "node:stream"

const batchBytes = 256 * 1024
const batchRecords = 5_000
const nanosPerMilli = 1_000_000n

/** Stores a batch durably; it tries again by itself where that can help. */
export type AppendBatch = (
  records: ReadonlyArray<NewRecord>
) => Effect.Effect<void, { readonly message: string }>

/** What to ingest, and how. */
export interface IngestOptions {
  readonly name: string
  readonly from: string | Readable
  readonly format: TextFormat
  /** The subject of every record. */
  readonly subject: string
  /** Pass over this many records. */
  readonly after: bigint
  readonly append: AppendBatch
  /** Told of each record as it is taken, in order. */
  readonly onRecord?: (data: Uint8Array) => void
  /** Told how many records are stored so far. */
  readonly onStored: (records: number) => Effect.Effect<void>
}

/** Ingests one text to its end; answers how many records were stored. */
export const ingestText = (options: IngestOptions): Effect.Effect<number, CommandFailure> =>
  Effect.scoped(
    Effect.gen(function* () {
      let stored = 0
      const explain = (error: unknown): CommandFailure =>
        failure(
          `${sentenceOf(error)}; ${stored} records before it are stored` +
            (stored === 0 ? "" : `, go on with --after ${options.after + BigInt(stored)}`)
        )
      const source = yield* RecordSource
      const reader = yield* source
        .open({ shard: options.name, after: Option.some(options.after) })
        .pipe(Effect.mapError(explain))
      const subject = new TextEncoder().encode(options.subject)
      for (;;) {
        const next = { maxRecords: batchRecords, maxBytes: batchBytes, wait: "1 second" } as const
        const batch = yield* reader.next(next).pipe(Effect.mapError(explain))
        const timestamp = ((yield* Clock.currentTimeNanos) / nanosPerMilli) * nanosPerMilli
        const records = batch.records.map(({ data }) => ({ timestamp, subject, headers: [], data }))
        for (const part of fitting(records)) {
          yield* options.append(part).pipe(Effect.mapError(explain))
          stored += part.length
          for (const { data } of part) options.onRecord?.(data)
          yield* options.onStored(stored)
        }
        if (batch.endOfShard) return stored
      }
    })
  ).pipe(
    Effect.provide(
      textSource({
        inputs: [{ from: options.from, shard: options.name }],
        format: options.format
      })
    )
  )

/** Cuts records into parts that fit a message with room for its envelope; a lone giant stays. */
export const fitting = <R extends NewRecord>(
  records: ReadonlyArray<R>
): ReadonlyArray<ReadonlyArray<R>> => {
  const parts: Array<Array<R>> = []
  let bytes = batchBytes
  for (const record of records) {
    const size = packedBytes(record)
    if (bytes + size > batchBytes) {
      parts.push([])
      bytes = 0
    }
    parts.at(-1)?.push(record)
    bytes += size
  }
  return parts
}
