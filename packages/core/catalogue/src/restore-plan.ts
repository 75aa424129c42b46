/**
 * How a stream is made again from its recorded configuration, so that an archive's records can be
 * published into it and stay there.
 *
 * 1. What forbids or distorts publishing is always changed, and named in `changed`.
 * 2. What would drop records again is named in `hazards`; it is lifted where that is asked for.
 * 3. Everything else is as it was recorded, fields of later servers included.
 */
import { Result, Schema } from "effect"
import { StreamConfiguration } from "./archive-settings.ts"

/** What the stream is to hold. */
export interface RestoredRecords {
  readonly records: number
  /** Bytes of subjects, headers and payloads. */
  readonly bytes: number
  /** How long ago the oldest record was stamped, in nanoseconds. */
  readonly oldestAgeNanos: bigint
}

/** A stream to make. */
export interface RestorePlan {
  /** JSON for the server. */
  readonly configuration: string
  /** What is not as it was recorded, each in words. */
  readonly changed: ReadonlyArray<string>
  /** Recorded limits that would drop records, each in words; lifted ones stand in `changed`. */
  readonly hazards: ReadonlyArray<string>
  /** Those among them with which nothing can be replayed at all. */
  readonly obstacles: ReadonlyArray<string>
}

/** A recorded configuration that cannot be used. */
export class RestorePlanError extends Schema.TaggedError<RestorePlanError>()("RestorePlanError", {
  message: Schema.String
}) {}

type Fields = Readonly<Record<string, unknown>>

/** What a replayed record needs beyond its own bytes: two message ids, and the server's own. */
const overheadBytes = 256
const largestMessageRoom = 1_024

const decode = Schema.decodeUnknownResult(
  Schema.fromJsonString(Schema.Record(Schema.String, Schema.Unknown))
)

/** Fields that tie a stream to others or forbid writing; with the reason each goes. */
const leftOut: ReadonlyArray<readonly [field: string, reason: string]> = [
  ["mirror", "a mirror takes no records"],
  ["sources", "its sources would fill it beside the replay"],
  ["sealed", "a sealed stream takes no records"],
  ["subject_transform", "it would change the subjects once more"],
  ["republish", "it would send every record to its subscribers once more"],
  ["no_ack", "the replay waits for acknowledgements"]
]

const isSet = (value: unknown): boolean =>
  value !== undefined && value !== null && value !== false && value !== ""

const numberOf = (fields: Fields, name: string): number => {
  const value = fields[name]
  return typeof value === "number" && value > 0 ? value : 0
}

interface Hazard {
  readonly text: string
  readonly isObstacle?: boolean
  readonly lifted: Fields
}

const hazardsOf = (fields: Fields, { bytes, oldestAgeNanos, records }: RestoredRecords) => {
  const found: Array<Hazard> = []
  const age = numberOf(fields, "max_age")
  if (age > 0 && BigInt(age) < oldestAgeNanos) {
    const text = `max_age is ${seconds(age)}: records would go that long after the replay, though the archive's are as old as ${seconds(Number(oldestAgeNanos))}`
    found.push({ text, lifted: { max_age: 0 } })
  }
  const most = numberOf(fields, "max_msgs")
  if (most > 0 && most < records) {
    const text = `max_msgs is ${most}, and ${records} records are archived`
    found.push({ text, lifted: { max_msgs: -1 } })
  }
  const room = numberOf(fields, "max_bytes")
  const needed = bytes + records * overheadBytes
  if (room > 0 && room < needed) {
    const text = `max_bytes is ${room}, and the records need about ${needed}`
    found.push({ text, lifted: { max_bytes: -1 } })
  }
  const each = numberOf(fields, "max_msgs_per_subject")
  if (each > 0 && each < records) {
    const text = `max_msgs_per_subject is ${each}: older records of a subject would go`
    found.push({ text, lifted: { max_msgs_per_subject: -1 } })
  }
  const { retention } = fields
  if (isSet(retention) && retention !== "limits") {
    const text = `the retention is "${String(retention)}": records go when they were consumed, or at once`
    found.push({ text, isObstacle: true, lifted: { retention: "limits" } })
  }
  return found
}

const seconds = (nanos: number): string => `${Math.round(nanos / 1e9)} s`

/** Plans a stream; `lifts` lifts the limits that would drop records. */
export const planRestore = (options: {
  readonly recorded: string
  readonly stream: string
  /** Instead of the recorded subjects. */
  readonly subjects?: ReadonlyArray<string> | undefined
  readonly holding: RestoredRecords
  readonly lifts: boolean
}): Result.Result<RestorePlan, RestorePlanError> => {
  const { holding, lifts, recorded, stream, subjects } = options
  const decoded = decode(recorded)
  if (Result.isFailure(decoded)) {
    const message = `The recorded configuration of the stream is damaged: ${decoded.failure.message}`
    return Result.fail(new RestorePlanError({ message }))
  }
  const fields = decoded.success
  const removed = leftOut.filter(([field]) => isSet(fields[field]))
  const hazards = hazardsOf(fields, holding)
  const largest = numberOf(fields, "max_msg_size")
  const configuration = {
    ...Object.fromEntries(
      Object.entries(fields).filter(([name]) => !leftOut.some(([field]) => field === name))
    ),
    name: stream,
    ...(subjects === undefined ? {} : { subjects }),
    ...(largest === 0 ? {} : { max_msg_size: largest + largestMessageRoom }),
    ...(lifts ? Object.assign({}, ...hazards.map(({ lifted }) => lifted)) : {})
  }
  const text = JSON.stringify(configuration)
  if (!Schema.is(StreamConfiguration)(text)) {
    return Result.fail(new RestorePlanError({ message: "The configuration is too large." }))
  }
  return Result.succeed({
    configuration: text,
    hazards: hazards.map((hazard) => hazard.text),
    obstacles: hazards.flatMap(({ isObstacle = false, text: one }) => (isObstacle ? [one] : [])),
    changed: [
      ...removed.map(([field, reason]) => `${field} is left out: ${reason}`),
      ...(largest === 0
        ? []
        : [`max_msg_size is ${largest + largestMessageRoom}, for the ids of the replay`]),
      ...(lifts ? hazards.map((hazard) => `lifted: ${hazard.text}`) : [])
    ]
  })
}
