/**
 * The lines of the MultiLangDaemon protocol: one JSON object each.
 *
 *     daemon                                              child
 *     {"action":"initialize","shardId":...}          ──▶
 *                                                    ◀──  {"action":"status","responseFor":...}
 *     {"action":"processRecords","records":[...]}    ──▶
 *                                                    ◀──  {"action":"checkpoint",...}
 *     {"action":"checkpoint",...,"error":null}       ──▶
 *                                                    ◀──  {"action":"status",...}
 *
 * Daemons of the KCL 1 and early 2 end by `shutdown` with a reason; those of the KCL 2 and 3 by
 * `leaseLost` and `shardEnded`. Both have `shutdownRequested`. What only one of them knows becomes
 * one message here; `responseFor` keeps the name that the answer must have.
 */
import type { SourceRecord } from "@holdfast/records"
import { Result, Schema } from "effect"
import {
  isSequenceNumber,
  type KinesisPlace,
  positionOf,
  subSequenceNumberMax
} from "./position.ts"

/** How checkpoints are written: V1 by `checkpoint`, V2 with a sub-sequence number. */
export type Dialect = "V1" | "V2"

/** What a daemon says. */
export type DaemonMessage =
  | {
      readonly _tag: "Initialize"
      readonly responseFor: string
      readonly shard: string
      /** Everything up to here was done earlier; none at the first start. */
      readonly after: bigint | undefined
      readonly dialect: Dialect
    }
  | {
      readonly _tag: "ProcessRecords"
      readonly responseFor: string
      readonly records: ReadonlyArray<SourceRecord>
      /** V2 says how far behind it is; V1 does not. */
      readonly dialect: Dialect
    }
  /** The shard belongs to somebody else: nothing may be written any more. */
  | { readonly _tag: "LeaseLost"; readonly responseFor: string }
  /** No record will follow: everything is to be finished, and the end to be checkpointed. */
  | { readonly _tag: "ShardEnded"; readonly responseFor: string }
  /** The daemon wants to stop or to hand the shard over: the last chance for a checkpoint. */
  | { readonly _tag: "ShutdownRequested"; readonly responseFor: string }
  | {
      readonly _tag: "CheckpointReply"
      /** The sequence number that it echoes, if any. */
      readonly sequenceNumber: string | undefined
      /** The simple name of a Java exception; none when the checkpoint is stored. */
      readonly error: string | undefined
    }

/** Why a line is not understood. */
export interface LineFault {
  /** `NotJson`: a stray print, to be passed over. `Invalid`: an action that cannot be answered. */
  readonly _tag: "NotJson" | "Invalid"
  readonly message: string
}

const optional = <S extends Schema.Top>(schema: S) => Schema.optionalKey(Schema.NullOr(schema))
const SequenceNumber = Schema.String.pipe(
  Schema.check(Schema.makeFilter(isSequenceNumber, { expected: "a decimal sequence number" }))
)
const SubSequenceNumber = Schema.Natural.pipe(
  Schema.check(Schema.isLessThanOrEqualTo(subSequenceNumberMax))
)
const Base64 = Schema.String.pipe(
  Schema.check(
    Schema.makeFilter((text) => text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text), {
      expected: "base64"
    })
  )
)

const RecordElement = Schema.Struct({
  data: Base64,
  partitionKey: Schema.String,
  sequenceNumber: SequenceNumber,
  subSequenceNumber: optional(SubSequenceNumber),
  approximateArrivalTimestamp: optional(Schema.Finite)
})

const Line = Schema.Union([
  Schema.Struct({
    action: Schema.Literal("initialize"),
    shardId: Schema.String,
    sequenceNumber: optional(Schema.String),
    subSequenceNumber: optional(SubSequenceNumber)
  }),
  Schema.Struct({
    action: Schema.Literal("processRecords"),
    records: Schema.Array(RecordElement),
    millisBehindLatest: optional(Schema.Finite)
  }),
  Schema.Struct({ action: Schema.Literal("shutdown"), reason: Schema.String }),
  Schema.Struct({ action: Schema.Literals(["leaseLost", "shardEnded", "shutdownRequested"]) }),
  Schema.Struct({
    action: Schema.Literal("checkpoint"),
    sequenceNumber: optional(Schema.String),
    checkpoint: optional(Schema.String),
    error: optional(Schema.String)
  })
])
type Line = typeof Line.Type
const decodeLine = Schema.decodeUnknownResult(Line)

const nanosPerMilli = 1_000_000n

/** Reads one line. */
export const parseLine = (text: string): Result.Result<DaemonMessage, LineFault> => {
  const value = Result.try((): unknown => JSON.parse(text))
  if (Result.isFailure(value)) {
    return Result.fail({ _tag: "NotJson", message: `a line is no JSON: ${text.slice(0, 80)}` })
  }
  const decoded = decodeLine(value.success)
  if (Result.isFailure(decoded)) {
    const message = `the daemon sent what is no action: ${decoded.failure.message.slice(0, 500)}`
    return Result.fail({ _tag: "Invalid", message })
  }
  return Result.succeed(messageOf(decoded.success))
}

const messageOf = (line: Line): DaemonMessage => {
  const responseFor = line.action
  switch (line.action) {
    case "initialize": {
      const { sequenceNumber, shardId, subSequenceNumber } = line
      const isNumber = typeof sequenceNumber === "string" && isSequenceNumber(sequenceNumber)
      const after = isNumber
        ? positionOf({ sequenceNumber, subSequenceNumber: subSequenceNumber ?? 0 })
        : undefined
      const dialect = sequenceNumber === undefined ? "V1" : "V2"
      return { _tag: "Initialize", responseFor, shard: shardId, after, dialect }
    }
    case "processRecords": {
      const dialect = line.millisBehindLatest === undefined ? "V1" : "V2"
      return { _tag: "ProcessRecords", responseFor, records: line.records.map(recordOf), dialect }
    }
    case "leaseLost":
      return { _tag: "LeaseLost", responseFor }
    case "shardEnded":
      return { _tag: "ShardEnded", responseFor }
    case "shutdownRequested":
      return { _tag: "ShutdownRequested", responseFor }
    case "shutdown":
      return { _tag: endOf(line.reason), responseFor }
    case "checkpoint":
      return {
        _tag: "CheckpointReply",
        sequenceNumber: line.sequenceNumber ?? line.checkpoint ?? undefined,
        error: line.error ?? undefined
      }
  }
}

/** A reason that nobody knows is taken for the one under which nothing is written. */
const endOf = (reason: string): "LeaseLost" | "ShardEnded" | "ShutdownRequested" =>
  reason === "TERMINATE" ? "ShardEnded" : reason === "REQUESTED" ? "ShutdownRequested" : "LeaseLost"

const recordOf = (element: typeof RecordElement.Type): SourceRecord => ({
  position: positionOf({
    sequenceNumber: element.sequenceNumber,
    subSequenceNumber: element.subSequenceNumber ?? 0
  }),
  timestamp: BigInt(Math.round(element.approximateArrivalTimestamp ?? 0)) * nanosPerMilli,
  subject: Buffer.from(element.partitionKey),
  headers: [],
  data: Buffer.from(element.data, "base64")
})

/** The line that says an action is done. */
export const statusLine = (responseFor: string): string =>
  JSON.stringify({ action: "status", responseFor })

/** The line that asks for a checkpoint at a place, or with none at the end of the shard. */
export const checkpointLine = (dialect: Dialect, place: KinesisPlace | undefined): string => {
  const { sequenceNumber = null, subSequenceNumber = null } = place ?? {}
  return dialect === "V1"
    ? JSON.stringify({ action: "checkpoint", checkpoint: sequenceNumber })
    : JSON.stringify({ action: "checkpoint", sequenceNumber, subSequenceNumber })
}
