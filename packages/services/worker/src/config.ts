/** How a worker is configured: checked by schema, every key optional but the two names. */
import { defaultErrorPolicy, defaultLimits, ErrorPolicy, Limits } from "@holdfast/disposition"
import { ClusterId, WorkerId } from "@holdfast/wire"
import { Effect, Result, Schema } from "effect"
import { unknownOption } from "./unknown-option.ts"

const AtLeastOne = Schema.Int.pipe(Schema.check(Schema.isGreaterThanOrEqualTo(1)))
const withDefault = <S extends Schema.Top>(schema: S, value: S["Encoded"]) =>
  schema.pipe(Schema.withDecodingDefaultKey(Effect.succeed(value)))

const { fields } = Limits

/** What one shard may have in flight; each limit by itself may be left out. */
const ShardLimits = Schema.Struct({
  records: withDefault(fields.records, defaultLimits.records),
  items: withDefault(fields.items, defaultLimits.items),
  bytes: withDefault(fields.bytes, defaultLimits.bytes),
  span: withDefault(fields.span, defaultLimits.span),
  partsPerRecord: withDefault(fields.partsPerRecord, defaultLimits.partsPerRecord)
})

/** Which aggregated messages of the KPL are opened. */
export const Aggregation = Schema.Literals(["none", "kpl", "kpl-and-private"])
/** Which aggregated messages of the KPL are opened. */
export type Aggregation = typeof Aggregation.Type

/** The settings of a worker; all times in milliseconds. */
export const WorkerConfig = Schema.Struct({
  cluster: ClusterId,
  worker: WorkerId,
  /**
   * Which of the claims in the lease store are this worker's business: those of shards called
   * `GROUP:...`; with an empty name, of shards without a colon; absent, of all. The others are shown
   * in its status, and otherwise left alone.
   */
  group: Schema.optionalKey(Schema.String),
  /** What one shard may have in flight. */
  limits: withDefault(ShardLimits, {}),
  /**
   * Whether aggregated messages of the KPL are opened, and their user records handed on one by one:
   * not at all, those of the standard format, or those of the two private formats as well. A
   * pipeline that says so itself is heeded instead.
   */
  aggregation: withDefault(Aggregation, "none"),
  /** What one read of the source asks for, and how long it waits. */
  batchRecords: withDefault(AtLeastOne, 1_024),
  batchBytes: withDefault(AtLeastOne, 4 * 1_024 * 1_024),
  pullWaitMs: withDefault(AtLeastOne, 1_000),
  heartbeatIntervalMs: withDefault(AtLeastOne, 1_000),
  flushIntervalMs: withDefault(AtLeastOne, 10_000),
  checkpointIntervalMs: withDefault(AtLeastOne, 2_000),
  /** How long the store, the lease and a heartbeat may take to answer. */
  callDeadlineMs: withDefault(AtLeastOne, 5_000),
  /** How long a full flush may take at shutdown and before a handover. */
  drainDeadlineMs: withDefault(AtLeastOne, 30_000),
  /** Without any progress for so long a shard with records in flight is reported as stalled. */
  stallAlarmMs: withDefault(AtLeastOne, 60_000),
  /** How often new shards are looked for. */
  discoveryIntervalMs: withDefault(AtLeastOne, 10_000),
  /** A claim that stands still for the term has lapsed; its owner stops by the margin earlier. */
  leaseTermMs: withDefault(AtLeastOne, 15_000),
  leaseMarginMs: withDefault(AtLeastOne, 3_000),
  leaseRenewalMs: withDefault(AtLeastOne, 3_000),
  /** The delays before what is away is tried again: the first, doubled up to the highest. */
  retryFirstMs: withDefault(AtLeastOne, 250),
  retryHighestMs: withDefault(AtLeastOne, 10_000),
  errorPolicy: withDefault(ErrorPolicy, defaultErrorPolicy),
  /** The largest completion map that is stored. */
  mapBytesMax: withDefault(AtLeastOne, 256 * 1_024),
  /** What to do with a stored map that cannot be used: do its records again, or halt the shard. */
  damagedMap: withDefault(Schema.Literals(["ignore", "halt"]), "ignore")
})
/** The settings of a worker; all times in milliseconds. */
export type WorkerConfig = typeof WorkerConfig.Type

/**
 * A configuration that cannot be used: a sentence that says what is wrong and what would be right.
 */
export class WorkerConfigError extends Schema.TaggedError<WorkerConfigError>()(
  "WorkerConfigError",
  { message: Schema.String }
) {}

const decode = Schema.decodeUnknownResult(WorkerConfig)

/** The first option that does not exist, among the settings and among the limits. */
const findUnknown = (input: Readonly<Record<string, unknown>>): string | undefined => {
  const limits = typeof input["limits"] === "object" ? input["limits"] : null
  const levels: ReadonlyArray<readonly [object, object]> = [
    [input, WorkerConfig.fields],
    [limits ?? {}, ShardLimits.fields]
  ]
  for (const [given, known] of levels) {
    const names = Object.keys(known)
    const unknown = Object.keys(given).find((name) => !names.includes(name))
    if (unknown !== undefined) return unknownOption(unknown, names)
  }
  return undefined
}

/** Reads a configuration; an option that does not exist is an error that names the nearest one. */
export const parseWorkerConfig = (
  input: Readonly<Record<string, unknown>>
): Result.Result<WorkerConfig, WorkerConfigError> => {
  const unknown = findUnknown(input)
  if (unknown !== undefined) return refuse(unknown)
  const decoded = decode(input)
  if (Result.isFailure(decoded)) return refuse(decoded.failure.message)
  const config = decoded.success
  if (config.leaseMarginMs + config.leaseRenewalMs >= config.leaseTermMs) {
    const sum = config.leaseMarginMs + config.leaseRenewalMs
    return refuse(
      `leaseTermMs is ${config.leaseTermMs}; it must be above leaseMarginMs + leaseRenewalMs, ${sum}`
    )
  }
  return Result.succeed(config)
}

const refuse = (message: string): Result.Result<never, WorkerConfigError> =>
  Result.fail(new WorkerConfigError({ message }))
