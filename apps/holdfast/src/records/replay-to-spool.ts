/** A stream of the embedded spool as the target of a replay. */
import { replayShardOf } from "@holdfast/catalogue"
import { Messaging } from "@holdfast/messaging"
import { type CommandFailure, sentenceOf } from "@holdfast/process"
import { type ReplayRecord, type ReplayTarget, ReplayTargetError } from "@holdfast/records"
import { type CallError, encodeRecords, makeRequestId } from "@holdfast/wire"
import { Effect, Option, type Scope, Stream } from "effect"
import { appendOnce } from "./append.ts"
import { fitting } from "./ingest.ts"
import { type Intent, openReplayJournal } from "./replay-journal.ts"

const codeOf = (error: CallError): ReplayTargetError["code"] => {
  if (error._tag !== "ServiceError") return "unavailable"
  switch (error.code) {
    case "full":
      return "full"
    case "invalid-request":
      return "invalid"
    default:
      return "unavailable"
  }
}

/** The newest ids after more records: each shard's own, the latest last. */
const withRecords = (
  newest: Intent["newest"],
  records: ReadonlyArray<ReplayRecord>
): Intent["newest"] => {
  const ids = new Map(newest)
  for (const { id } of records) {
    const shard = replayShardOf(id) ?? id
    ids.delete(shard)
    ids.set(shard, id)
  }
  return [...ids]
}

/** Opens a stream of the spool as a target; an append that was in doubt is settled first. */
export const replayToSpool = Effect.fnUntraced(function* (options: {
  readonly cluster: string
  readonly data: string
  readonly stream: string
}): Effect.fn.Return<ReplayTarget, CommandFailure | CallError, Messaging | Scope.Scope> {
  const { cluster, stream } = options
  const messaging = yield* Messaging
  const journal = yield* openReplayJournal(options)
  const append = ({ appendId, attachment }: Intent) =>
    appendOnce({ cluster, stream, requestId: appendId, attachment }).pipe(
      Effect.provideService(Messaging, messaging)
    )
  if (Option.isSome(journal.last)) yield* append(journal.last.value)
  let newest: Intent["newest"] = Option.isSome(journal.last) ? journal.last.value.newest : []

  const publish: ReplayTarget["publish"] = Effect.fnUntraced(function* (records) {
    let stored = 0
    const failed = (code: ReplayTargetError["code"]) => (error: unknown) =>
      new ReplayTargetError({ code, stored, message: sentenceOf(error) })
    for (const part of fitting(records)) {
      const intent: Intent = {
        appendId: yield* makeRequestId,
        newest: withRecords(newest, part),
        attachment: encodeRecords(part)
      }
      yield* Effect.mapError(journal.intend(intent), failed("unavailable"))
      yield* Effect.mapError(append(intent), (error) => failed(codeOf(error))(error))
      ;({ newest } = intent)
      stored += part.length
    }
    return { duplicates: 0 }
  })

  const earlier = Stream.sync(() => newest.map(([, id]) => id).toReversed())
  return { name: `the stream ${stream}`, earlier, publish }
})
