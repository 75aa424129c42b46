/** The RecordSource of a session: the one shard that the daemon gave, in the order it sends it. */
import { RecordSource, RecordSourceError, type ShardReader } from "@holdfast/records"
import { Effect, Option } from "effect"
import type { Connection } from "./connection.ts"

/** Makes the source over a connection; `stream` is what its shard is said to belong to. */
export const makeRecordSource = (
  connection: Connection,
  stream: string
): RecordSource["Service"] => {
  const { session } = connection
  return RecordSource.of({
    shards: Effect.sync(() =>
      session.shard === undefined || session.lostReason !== undefined
        ? []
        : [{ shard: session.shard.shard, stream }]
    ),
    open: ({ after, shard }) =>
      Effect.suspend(() => {
        const { forgotten } = session.retained
        const from = Option.getOrUndefined(after)
        if (session.shard?.shard !== shard) {
          const message = `the daemon has not given the shard ${shard}`
          return Effect.fail(new RecordSourceError({ code: "not-found", message }))
        }
        if (forgotten !== undefined && (from === undefined || from < forgotten)) {
          const message = `${shard} was let go of up to position ${forgotten}`
          return Effect.fail(new RecordSourceError({ code: "not-found", message }))
        }
        return Effect.succeed(makeReader(connection, from))
      })
  })
}

const makeReader = (connection: Connection, from: bigint | undefined): ShardReader => {
  const { changes, session } = connection
  let cursor = from
  return {
    next: ({ maxBytes, maxRecords, wait }) =>
      changes
        .waitUntil(() => session.retained.hasAbove(cursor) || session.isEnding)
        .pipe(
          Effect.timeoutOption(wait),
          Effect.map(() => {
            const records = session.retained.above(cursor, { maxRecords, maxBytes })
            cursor = records.at(-1)?.position ?? cursor
            return {
              records,
              gaps: [],
              newest: Option.none(),
              endOfShard: session.isEnding && !session.retained.hasAbove(cursor)
            }
          })
        ),
    acknowledge: (upTo) => Effect.sync(() => connection.change((one) => one.forget(upTo)))
  }
}
