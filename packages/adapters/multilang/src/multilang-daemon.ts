/** The ports of a worker that is the child of a MultiLangDaemon, and what it must hear of it. */
import { CheckpointStore, Lease, RecordSource } from "@holdfast/records"
import { Context, Effect, Layer } from "effect"
import { type CheckpointRetry, defaultRetry, makeCheckpointing } from "./checkpoint-store.ts"
import { connect, type ConnectionOptions, type SessionEnd } from "./connection.ts"
import { makeLease } from "./lease.ts"
import { makeRecordSource } from "./record-source.ts"

/** How a session is held. */
export interface MultiLangOptions extends ConnectionOptions {
  /** What the shard is said to belong to. */
  readonly stream: string
  readonly checkpointRetry?: CheckpointRetry
}

/** The daemon, to whoever runs the worker. */
export class MultiLangDaemon extends Context.Service<
  MultiLangDaemon,
  {
    /** Returns when the daemon wants the child to flush and to checkpoint for the last time. */
    readonly shutdownRequested: Effect.Effect<void>
    /** The position of the newest record that it has handed over; none before the first. */
    readonly newest: Effect.Effect<bigint | undefined>
    /** Says that this is done: the daemon gets its answer. */
    readonly drained: Effect.Effect<void>
    /** Says that the process leaves by itself: a checkpoint waits for no further action. */
    readonly leaving: Effect.Effect<void>
    /** Returns when the daemon has closed its end, or when it cannot be understood. */
    readonly ended: Effect.Effect<SessionEnd>
  }
>()("@holdfast/adapter-multilang/MultiLangDaemon") {}

/** Speaks with a daemon, over one shard, until the scope closes. */
export const multiLangDaemon = (
  options: MultiLangOptions
): Layer.Layer<CheckpointStore | Lease | MultiLangDaemon | RecordSource> =>
  Layer.effectContext(
    Effect.gen(function* () {
      const connection = yield* connect(options)
      const { changes, session } = connection
      const { endOfShard, store } = yield* makeCheckpointing(
        connection,
        options.checkpointRetry ?? defaultRetry
      )
      yield* Effect.forkScoped(endOfShard)
      const daemon = MultiLangDaemon.of({
        shutdownRequested: changes.waitUntil(() => session.isShutdownRequested),
        newest: Effect.sync(() => session.retained.newest),
        drained: Effect.sync(() => connection.change((one) => one.markDrained())),
        leaving: Effect.sync(() => connection.change((one) => (one.isClosing = true))),
        ended: Effect.suspend(() =>
          Effect.map(
            changes.waitUntil(() => connection.end !== undefined),
            () => connection.end ?? { _tag: "InputEnded" }
          )
        )
      })
      return Context.make(MultiLangDaemon, daemon).pipe(
        Context.add(RecordSource, makeRecordSource(connection, options.stream)),
        Context.add(CheckpointStore, store),
        Context.add(Lease, makeLease(connection))
      )
    })
  )
