/**
 * Aggregated records as JSON lines, one for each user record, and back.
 *
 *     {"partitionKey":"10","explicitHashKey":null,"data":"first"}
 *
 * Data that is not UTF-8 stands in base64 under `dataBase64`; `tags` stands only where a user
 * record has some. A user record without an explicit hash key has `null` there, or nothing.
 */
import { createHash } from "node:crypto"
import { deflateSync, inflateSync } from "node:zlib"
import {
  Aggregator,
  deaggregator,
  describePlain,
  type NewUserRecord,
  type OutgoingFormat,
  type UserRecord
} from "@holdfast/aggregate"
import { type CommandFailure, failure } from "@holdfast/process"
import { Option, Result, Schema } from "effect"
import { textOrBase64 } from "../records/record-json.ts"
import { fromBase64 } from "./aggregate-bytes.ts"

const md5 = (bytes: Uint8Array): Uint8Array => createHash("md5").update(bytes).digest()

const Line = Schema.Struct({
  partitionKey: Schema.String,
  explicitHashKey: Schema.optionalKey(Schema.NullOr(Schema.String)),
  data: Schema.optionalKey(Schema.String),
  dataBase64: Schema.optionalKey(Schema.String),
  tags: Schema.optionalKey(
    Schema.Array(Schema.Struct({ key: Schema.String, value: Schema.optionalKey(Schema.String) }))
  )
})
const decodeLine = Schema.decodeUnknownResult(Schema.fromJsonString(Line), {
  onExcessProperty: "error"
})

/** The formats that a record can be written in. */
export const formatNames = ["standard", "hidden", "deflated"] as const
/** A format that a record can be written in; the last two are private. */
export type FormatName = (typeof formatNames)[number]

const outgoingFormat = (name: FormatName): OutgoingFormat => {
  switch (name) {
    case "standard":
      return { _tag: "Standard" }
    case "hidden":
      return { _tag: "Hidden" }
    case "deflated":
      return { _tag: "Deflated", deflate: (bytes) => deflateSync(bytes) }
  }
}

/** The user records of one record as lines, without their ends, or why it is no aggregate. */
export const linesOfAggregate = (
  bytes: Uint8Array,
  options: { readonly opensPrivateFormats: boolean }
): Result.Result<ReadonlyArray<string>, CommandFailure> => {
  const inflate = (deflated: Uint8Array, maxOutputLength: number): Uint8Array =>
    inflateSync(deflated, { maxOutputLength })
  const open = deaggregator({
    md5,
    ...(options.opensPrivateFormats ? { privateFormats: { inflate } } : {})
  })
  const opened = open(bytes)
  switch (opened._tag) {
    case "Aggregate":
      return Result.succeed(opened.records.map(lineOf))
    case "Plain":
      return Result.fail(failure(`the record is no aggregate. ${describePlain(opened)}`))
    case "Dropped":
      return Result.fail(failure("the record was dropped, though no hash range was given"))
  }
}

const lineOf = ({ data, explicitHashKey, partitionKey, tags }: UserRecord): string =>
  JSON.stringify({
    partitionKey,
    explicitHashKey: explicitHashKey ?? null,
    ...textOrBase64("data", data),
    ...(tags.length === 0 ? {} : { tags })
  })

/** One aggregated record of the lines of a text; blank lines are passed over. */
export const aggregateOfLines = (
  text: string,
  options: { readonly format: FormatName }
): Result.Result<Uint8Array, CommandFailure> =>
  Result.gen(function* () {
    const aggregator = new Aggregator({
      md5,
      single: "aggregated",
      format: outgoingFormat(options.format)
    })
    for (const [index, line] of text.split("\n").entries()) {
      if (line.trim() === "") continue
      const at = `line ${index + 1}`
      const addition = aggregator.add(yield* userRecordOf(line, at))
      switch (addition._tag) {
        case "Added":
          continue
        case "Full":
          return yield* Result.fail(
            failure(`${at} does not fit: one record is full (${addition.limit}) before it`)
          )
        case "TooLarge":
        case "Unfit":
          return yield* Result.fail(failure(`${at}: ${addition.message}`))
      }
    }
    const finished = aggregator.finish()
    if (Option.isNone(finished)) {
      return yield* Result.fail(failure("there is no user record: a line for each would be right"))
    }
    return finished.value.data
  })

const userRecordOf = (line: string, at: string): Result.Result<NewUserRecord, CommandFailure> => {
  const decoded = decodeLine(line)
  if (Result.isFailure(decoded)) {
    return Result.fail(failure(`${at} is no user record: ${decoded.failure.message}`))
  }
  const { data, dataBase64, explicitHashKey, partitionKey, tags } = decoded.success
  if ((data === undefined) === (dataBase64 === undefined)) {
    return Result.fail(failure(`${at} needs either data or dataBase64`))
  }
  const bytes = data === undefined ? fromBase64(dataBase64 ?? "") : Buffer.from(data)
  if (bytes === undefined) return Result.fail(failure(`${at}: its dataBase64 is not base64`))
  return Result.succeed({
    partitionKey,
    explicitHashKey: explicitHashKey ?? undefined,
    data: bytes,
    ...(tags === undefined ? {} : { tags: tags.map(({ key, value }) => ({ key, value })) })
  })
}
