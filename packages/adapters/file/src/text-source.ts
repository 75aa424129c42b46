/**
 * A RecordSource on text: lines, NDJSON, or the elements of a JSON array, from files or from
 * standard input. Each file is one shard that ends where the file ends.
 *
 * 1. A position is the number of the line, or of the element, from 1. It names the same record as
 *    long as the file is not changed before it.
 * 2. `data` is the record's own bytes as they stand in the file, without what separates it.
 * 3. Memory holds one chunk and one record, however long the file is.
 * 4. A fault is told after the records before it, and again by every later `next`; it names the
 *    file, the line and what would be right.
 *
 * Reading after a position reads the file from its beginning and passes over what was read before.
 */
import { RecordSource, RecordSourceError } from "@holdfast/records"
import type { NextOptions, RecordBatch, ShardReader, SourceRecord } from "@holdfast/records"
import { Effect, Layer, Option } from "effect"
import type { Scope } from "effect"
import { basename } from "node:path"
import type { Readable } from "node:stream"
import { fileInput, inputError, streamInput } from "./byte-input.ts"
import type { ByteInput } from "./byte-input.ts"
import { makeJsonArraySplitter } from "./json-array-splitter.ts"
import { makeLineSplitter } from "./line-splitter.ts"
import type { TextFault, TextPiece, TextSplitter } from "./text-splitter.ts"

/** Bytes of the largest record if nothing else is said. */
const RECORD_BYTES_MAX = 16_777_216

/** How a text is cut: each line a record, each line a JSON value, or the elements of an array. */
export type TextFormat =
  | { readonly _tag: "Lines" }
  | { readonly _tag: "Ndjson" }
  | {
      readonly _tag: "JsonArray"
      /** The names that lead to the array, such as `["features"]`; none: the document itself. */
      readonly path: ReadonlyArray<string>
    }

/** A file, or a stream such as standard input, and the name of its shard. */
export interface TextInput {
  readonly from: string | Readable
  /** The file's name without its directories, or `standard-input`, if absent. */
  readonly shard?: string
}

/** What to read and how. */
export interface TextSourceOptions {
  readonly inputs: ReadonlyArray<TextInput>
  readonly format: TextFormat
  /** Bytes of the largest record; 16 MiB if absent. */
  readonly recordBytesMax?: number
}

const shardOf = ({ from, shard }: TextInput): string =>
  shard ?? (typeof from === "string" ? basename(from) : "standard-input")

const nameOf = ({ from }: TextInput): string => (typeof from === "string" ? from : "standard input")

const splitterOf = (options: TextSourceOptions, after: bigint): TextSplitter => {
  const limits = { pieceBytesMax: options.recordBytesMax ?? RECORD_BYTES_MAX, after }
  switch (options.format._tag) {
    case "Lines":
      return makeLineSplitter({ ...limits, isJson: false })
    case "Ndjson":
      return makeLineSplitter({ ...limits, isJson: true })
    case "JsonArray":
      return makeJsonArraySplitter({ ...limits, path: options.format.path })
  }
}

/** An open text: pieces that were cut and not yet given out, and how it ended, if it did. */
interface Reading {
  readonly input: TextInput
  readonly read: ByteInput
  readonly splitter: TextSplitter
  readonly subject: Uint8Array
  pieces: Array<TextPiece>
  /** How many of the pieces were given out. */
  given: number
  /** A read that was begun; a `next` whose wait was over leaves it to the one after. */
  pending: Promise<Uint8Array | undefined> | undefined
  newest: bigint | undefined
  fault: RecordSourceError | undefined
  isEnded: boolean
}

const asSourceError = (reading: Reading, { code, line, message }: TextFault): RecordSourceError =>
  new RecordSourceError({
    code,
    message: `${nameOf(reading.input)}, line ${line}: ${message}.`
  })

const hasPieces = ({ given, pieces }: Reading): boolean => given < pieces.length

/** Cuts what a read brought; everything cut before was given out. */
const take = (reading: Reading, chunk: Uint8Array | undefined): void => {
  const pieces: Array<TextPiece> = []
  const fault =
    chunk === undefined ? reading.splitter.end(pieces) : reading.splitter.push(chunk, pieces)
  reading.pieces = pieces
  reading.given = 0
  reading.newest = pieces.at(-1)?.position ?? reading.newest
  if (fault !== undefined) reading.fault = asSourceError(reading, fault)
  if (chunk === undefined) reading.isEnded = true
}

/** The read that is under way, or a new one. */
const pendingRead = (reading: Reading): Promise<Uint8Array | undefined> => {
  if (reading.pending !== undefined) return reading.pending
  const pending = reading.read()
  // A `next` whose wait is over no longer listens; a failure is told by the next one that does.
  const isToldLater = (): void => undefined
  pending.then(isToldLater, isToldLater)
  reading.pending = pending
  return pending
}

/** Reads and cuts until there is a piece, a fault or the end. */
const fill = Effect.fnUntraced(function* (reading: Reading) {
  while (!hasPieces(reading) && reading.fault === undefined && !reading.isEnded) {
    const chunk = yield* Effect.tryPromise({
      try: () => pendingRead(reading),
      catch: (cause) => inputError(nameOf(reading.input), cause)
    })
    reading.pending = undefined
    take(reading, chunk)
  }
})

const takeRecords = (reading: Reading, options: NextOptions): ReadonlyArray<SourceRecord> => {
  const from = reading.given
  let bytes = 0
  let end = from
  for (; end < reading.pieces.length; end++) {
    bytes += reading.pieces[end]?.bytes.length ?? 0
    const isFull = end - from >= options.maxRecords || bytes > options.maxBytes
    if (end > from && isFull) break
  }
  reading.given = end
  const given = reading.pieces.slice(from, end)
  return given.map(({ bytes: data, position }) => ({
    position,
    timestamp: 0n,
    subject: reading.subject,
    headers: [],
    data
  }))
}

const next = Effect.fnUntraced(function* (
  reading: Reading,
  options: NextOptions
): Effect.fn.Return<RecordBatch, RecordSourceError> {
  yield* Effect.timeoutOption(fill(reading), options.wait)
  const records = takeRecords(reading, options)
  if (records.length === 0 && reading.fault !== undefined) return yield* reading.fault
  const isAtEnd = reading.isEnded && !hasPieces(reading) && reading.fault === undefined
  const newest = isAtEnd ? Option.fromUndefinedOr(reading.newest) : Option.none<bigint>()
  return { records, gaps: [], newest, endOfShard: isAtEnd }
})

const openInput = Effect.fnUntraced(function* (
  options: TextSourceOptions,
  input: TextInput,
  after: Option.Option<bigint>
): Effect.fn.Return<ShardReader, RecordSourceError, Scope.Scope> {
  const { from } = input
  const read = typeof from === "string" ? yield* fileInput(from) : streamInput(from)
  const reading: Reading = {
    input,
    read,
    splitter: splitterOf(
      options,
      Option.getOrElse(after, () => 0n)
    ),
    subject: Buffer.from(shardOf(input), "utf8"),
    pieces: [],
    given: 0,
    pending: undefined,
    newest: Option.getOrUndefined(after),
    fault: undefined,
    isEnded: false
  }
  return { next: (bounds) => next(reading, bounds), acknowledge: () => Effect.void }
})

const duplicateOf = (shards: ReadonlyArray<string>): string | undefined =>
  shards.find((shard, index) => shards.indexOf(shard) !== index)

const shardsOf = Effect.fnUntraced(function* ({ inputs }: TextSourceOptions) {
  const shards = inputs.map(shardOf)
  const duplicate = duplicateOf(shards)
  if (duplicate === undefined) return shards.map((shard) => ({ shard, stream: shard }))
  const message = `Two inputs are called "${duplicate}"; name the shard of one of them.`
  return yield* new RecordSourceError({ code: "unsupported", message })
})

/** A RecordSource on text. */
export const textSource = (options: TextSourceOptions): Layer.Layer<RecordSource> =>
  Layer.succeed(RecordSource, {
    shards: shardsOf(options),
    open: Effect.fnUntraced(function* ({ after, shard }) {
      yield* shardsOf(options)
      const input = options.inputs.find((each) => shardOf(each) === shard)
      if (input !== undefined) return yield* openInput(options, input, after)
      const message = `No input is called "${shard}"; there are: ${options.inputs.map(shardOf).join(", ")}.`
      return yield* new RecordSourceError({ code: "not-found", message })
    })
  })
