/**
 * A JetStream stream as the target of a replay.
 *
 *     earlier    the last record's message id; then blocks from the end backwards, headers only
 *     publish    records in turn, many under way; an outage is waited out
 *
 * 1. A record is sent only if the target's own subjects take it: no other stream ever gets one.
 * 2. After an outage the stream itself says what it has of a batch: it may last longer than the
 *    server remembers ids.
 * 3. Only streams with the retention "limits" are written to: another one forgets what was
 *    consumed, and with it how far a replay has come.
 */
import { type ReplayRecord, type ReplayTarget, ReplayTargetError } from "@holdfast/records"
import { Effect, Option, Result, Schema, type Scope, Stream } from "effect"
import { messageIdOf } from "./header-block.ts"
import type { ManagedConnection } from "./managed-connection.ts"
import { tuningOf } from "./nats-record-source.ts"
import type { NatsError } from "./nats-error.ts"
import { openManager } from "./open-manager.ts"
import {
  makeRecordPublisher,
  type OutgoingRecord,
  type RecordPublishError
} from "./record-publisher.ts"
import { describeStream, lastOfStream } from "./stream-description.ts"
import { openStreamReader } from "./stream-reader.ts"
import { matchesSubject } from "./subject.ts"

/** Which stream, and how it is written to. */
export interface NatsReplayTargetOptions {
  readonly stream: string
  /** Records under way at a time. Default 512. */
  readonly window?: number
  /** The JetStream domain, where leaf nodes have several. */
  readonly domain?: string
}

const firstBlock = 1_024n
const blockGrowth = 16n
const largestBlock = 1_048_576n
/** A block that does not end within so many empty looks, of a second each, is given up. */
const emptyLooksMax = 30
/** A stream that loses its leader is away for five to seven seconds. */
const outagePause = "500 millis"
const outagesMax = 40

const Configuration = Schema.fromJsonString(
  Schema.Struct({
    retention: Schema.optionalKey(Schema.String),
    sealed: Schema.optionalKey(Schema.Boolean),
    mirror: Schema.optionalKey(Schema.Unknown)
  })
)
const decodeConfiguration = Schema.decodeUnknownResult(Configuration)

const failed = (code: ReplayTargetError["code"], message: string, stored = 0): ReplayTargetError =>
  new ReplayTargetError({ code, stored, message })

/** Opens a stream as a target; it must exist. Lives until the scope closes. */
export const makeNatsReplayTarget = Effect.fnUntraced(function* (
  connection: ManagedConnection,
  options: NatsReplayTargetOptions
): Effect.fn.Return<ReplayTarget, ReplayTargetError, Scope.Scope> {
  const { domain, stream, window } = options
  const place = { stream, ...(domain === undefined ? {} : { domain }) }
  const found = yield* Effect.mapError(describeStream(connection, place), ofNats)
  if (Option.isNone(found)) {
    return yield* failed("not-found", `there is no stream ${stream} to replay into`)
  }
  const { configuration, first, subjects } = found.value
  const fault = targetFault(stream, configuration)
  if (fault !== undefined) return yield* failed("refused", fault)
  const publisher = yield* makeRecordPublisher(connection, {
    stream,
    inTurn: true,
    ...(window === undefined ? {} : { window })
  })
  const subjectFault = makeSubjectCheck(stream, subjects)

  const readIds = (bounds: { readonly from: bigint; readonly to: bigint }) =>
    Effect.scoped(idsBetween(connection, { ...options, ...bounds }))

  const earlier = Stream.paginate(
    Option.none<Block>(),
    Effect.fnUntraced(function* (block): Effect.fn.Return<Page, ReplayTargetError> {
      if (Option.isNone(block)) {
        const last = yield* Effect.mapError(lastOfStream(connection, place), ofNats)
        if (Option.isNone(last)) return [[], Option.none()]
        const { messageId, position } = last.value
        const next = { upTo: position - 1n, size: firstBlock }
        return [messageId === undefined ? [] : [[messageId]], below(first, next)]
      }
      const { size, upTo } = block.value
      const from = upTo - size + 1n > first ? upTo - size + 1n : first
      const ids = yield* readIds({ from, to: upTo })
      const grown = size * blockGrowth
      const next = { upTo: from - 1n, size: grown < largestBlock ? grown : largestBlock }
      return [[ids.toReversed()], below(first, next)]
    })
  )

  /** The last id that this target is known to have stored in this run. */
  let lastStored: string | undefined

  /** How many leading records of a batch the stream has: the newest of them says it for all. */
  const storedOf = Effect.fnUntraced(function* (
    records: ReadonlyArray<ReplayRecord>
  ): Effect.fn.Return<number, ReplayTargetError> {
    const counts = new Map(records.map(({ id }, at) => [id, at + 1]))
    if (lastStored !== undefined) counts.set(lastStored, 0)
    let stored = 0
    yield* Stream.runForEachWhile(earlier, (ids) =>
      Effect.sync(() => {
        const newest = ids.find((id) => counts.has(id))
        stored = newest === undefined ? 0 : (counts.get(newest) ?? 0)
        return newest === undefined
      })
    )
    return stored
  })

  /** Publishes a batch; what an outage leaves in doubt is looked up before more is sent. */
  const publishAll = Effect.fnUntraced(function* (
    records: ReadonlyArray<ReplayRecord>
  ): Effect.fn.Return<number, ReplayTargetError> {
    let stored = 0
    let isInDoubt = false
    for (let outages = 0; ;) {
      if (isInDoubt) yield* Effect.sleep(outagePause)
      const attempt = Effect.gen(function* () {
        if (isInDoubt) stored = Math.max(stored, yield* storedOf(records))
        return yield* Effect.mapError(
          publisher.publish(records.slice(stored).map(toOutgoing)),
          (error) => failed(targetCode(error.code), error.message, stored + error.stored)
        )
      })
      const outcome = yield* Effect.result(attempt)
      if (Result.isSuccess(outcome)) return outcome.success.duplicates
      const { code, message, stored: before } = outcome.failure
      outages = before > stored ? 1 : outages + 1
      stored = Math.max(stored, before)
      if (code !== "unavailable" || outages > outagesMax) {
        return yield* failed(code, message, stored)
      }
      isInDoubt = true
    }
  })

  const publish: ReplayTarget["publish"] = Effect.fnUntraced(function* (records) {
    const wrong = records.findIndex((record) => subjectFault(record.subject) !== undefined)
    const sent = wrong === -1 ? records : records.slice(0, wrong)
    const duplicates = yield* publishAll(sent)
    lastStored = sent.at(-1)?.id ?? lastStored
    const refused = records[sent.length]
    if (refused === undefined) return { duplicates }
    const message = subjectFault(refused.subject) ?? "a record is refused"
    return yield* failed("refused", message, sent.length)
  })

  return { name: `the stream ${stream}`, earlier, publish }
})

const toOutgoing = ({ data, headers, id, subject }: ReplayRecord): OutgoingRecord => ({
  data,
  headers,
  messageId: id,
  subject
})

/** Positions that are looked through next: so many, up to and including one. */
interface Block {
  readonly upTo: bigint
  readonly size: bigint
}

type Page = readonly [
  ids: ReadonlyArray<ReadonlyArray<string>>,
  next: Option.Option<Option.Option<Block>>
]

const below = (first: bigint, next: Block): Page[1] =>
  next.upTo < first ? Option.none() : Option.some(Option.some(next))

/** The message ids between two positions, in order; a record at or behind `to` must exist. */
const idsBetween = Effect.fnUntraced(function* (
  connection: ManagedConnection,
  options: NatsReplayTargetOptions & { readonly from: bigint; readonly to: bigint }
): Effect.fn.Return<ReadonlyArray<string>, ReplayTargetError, Scope.Scope> {
  const { domain, from, stream, to } = options
  const unreadable = ({ message }: { readonly message: string }) => failed("unavailable", message)
  const reader = yield* openStreamReader({
    connection,
    manager: yield* openManager(connection, domain),
    apiPrefix: domain === undefined ? "$JS.API" : `$JS.${domain}.API`,
    shard: { shard: stream, stream },
    after: from - 1n,
    headersOnly: true,
    tuning: tuningOf(connection, {})
  }).pipe(Effect.mapError(unreadable))
  const ids: Array<string> = []
  for (let empty = 0; empty < emptyLooksMax;) {
    const bounds = { maxRecords: 4_096, maxBytes: 4_194_304, wait: "1 second" } as const
    const { gaps, records } = yield* Effect.mapError(reader.next(bounds), unreadable)
    for (const { headers, position } of records) {
      const id = position > to ? undefined : messageIdOf(headers)
      if (id !== undefined) ids.push(id)
    }
    const reached = [...records.map(({ position }) => position), ...gaps.map((gap) => gap.to)]
    if (reached.some((position) => position >= to)) return ids
    empty = reached.length === 0 ? empty + 1 : 0
  }
  return yield* unreadable({ message: `the stream ${stream} did not give its records in time` })
})

/** Why a stream cannot be a target, as far as its configuration tells. */
const targetFault = (stream: string, configuration: string): string | undefined => {
  const decoded = decodeConfiguration(configuration)
  if (Result.isFailure(decoded)) return `the stream ${stream} has an unknown configuration`
  const { mirror, retention = "limits", sealed } = decoded.success
  if (sealed === true) return `the stream ${stream} is sealed; it takes no records`
  if (mirror !== undefined) return `the stream ${stream} is a mirror; it takes no records`
  if (retention === "limits") return undefined
  return (
    `the stream ${stream} has the retention "${retention}": it forgets what was consumed, so that a ` +
    'second run could not tell what it had; right would be a stream with the retention "limits"'
  )
}

/** Says why the target does not take a subject; each subject is looked at once in a row. */
const makeSubjectCheck = (stream: string, subjects: ReadonlyArray<string>) => {
  const decoder = new TextDecoder()
  let last: Uint8Array | undefined
  return (bytes: Uint8Array): string | undefined => {
    if (last === bytes) return undefined
    const subject = decoder.decode(bytes)
    if (!subjects.some((filter) => matchesSubject(filter, subject))) {
      const taken = subjects.map((one) => `"${one}"`).join(", ") || "none"
      return `the stream ${stream} does not take the subject "${subject}"; its subjects are ${taken}`
    }
    last = bytes
    return undefined
  }
}

const ofNats = ({ code, message }: NatsError): ReplayTargetError => {
  switch (code) {
    case "denied":
      return failed("denied", message)
    case "unreachable":
    case "unavailable":
      return failed("unavailable", message)
    case "unsupported":
    case "mismatch":
    case "invalid":
      return failed("refused", message)
  }
}

const targetCode = (code: RecordPublishError["code"]): ReplayTargetError["code"] => {
  switch (code) {
    case "unavailable":
    case "full":
    case "refused":
    case "invalid":
    case "denied":
      return code
    case "too-large":
      return "invalid"
  }
}
