/** A replay as commands run it: to the target that the flags name, with progress. */
import { makeNatsReplayTarget, NatsConnections } from "@holdfast/adapter-nats"
import {
  ArchiveClient,
  type ReplayError,
  type ReplayOptions,
  type ReplayReport
} from "@holdfast/client"
import type { Messaging } from "@holdfast/messaging"
import { type CommandFailure, failure } from "@holdfast/process"
import type { ReplayTarget, ReplayTargetError } from "@holdfast/records"
import type { CallError } from "@holdfast/wire"
import { Context, Effect, Layer, Option, Scope } from "effect"
import { type ConnectionError, type ConnectionOptions, natsOf } from "../connection/connect.ts"
import { openProgress, type ReportProgress, sayLine } from "../output/progress.ts"
import { completeUpTo } from "./complete-up-to.ts"
import { replayToSpool } from "./replay-to-spool.ts"

/** Why a target cannot be opened. */
export type TargetError = CommandFailure | ReplayTargetError | CallError | ConnectionError

/** The stream that is replayed into: of JetStream where `--nats` names it, else of the spool. */
export const openTarget = (
  options: ConnectionOptions & { readonly stream: string }
): Effect.Effect<ReplayTarget, TargetError, Messaging | Scope.Scope> =>
  Effect.gen(function* () {
    const connections = yield* natsOf(options, "holdfast-replay")
    if (Option.isNone(connections)) return yield* replayToSpool(options)
    // Built into the scope: the connection must live as long as the target does.
    const context = yield* Layer.build(connections.value)
    const { bulk } = Context.get(context, NatsConnections)
    return yield* makeNatsReplayTarget(bulk, { stream: options.stream })
  })

/** Replays into a target, up to where the archive is complete. */
export const replayWithProgress = Effect.fnUntraced(function* (
  options: ReplayOptions & { readonly cluster: string }
): Effect.fn.Return<
  ReplayReport,
  ReplayError | CommandFailure,
  ArchiveClient | Messaging | Scope.Scope
> {
  const archives = yield* ArchiveClient
  const scope = yield* Effect.scope
  const archive = yield* archives.show(options.archive)
  const totals = yield* archives.totals(options.archive)
  const upTo = options.upTo ?? (yield* completeUpTo({ cluster: options.cluster, archive, totals }))
  let report: ReportProgress = () => Effect.void
  return yield* archives.replay({
    ...options,
    upTo,
    onStart: ({ expected = 0, resumed }) =>
      Effect.gen(function* () {
        for (const { position, shard } of resumed) {
          yield* sayLine(`${options.target.name} has ${shard} up to position ${position}`)
        }
        const label = options.archive
        report = yield* openProgress({ label, unit: "records", total: expected })
      }).pipe(Scope.provide(scope)),
    onProgress: (records) => report(records)
  })
})

/** Refuses to replay an archive into the stream that it reads: it would archive that again. */
export const refuseOwnStream = Effect.fnUntraced(function* (options: {
  readonly archive: string
  readonly stream: string
}): Effect.fn.Return<
  void,
  Effect.Error<ReturnType<ArchiveClient["Service"]["show"]>> | CommandFailure,
  ArchiveClient
> {
  const archives = yield* ArchiveClient
  const { origin, status } = yield* archives.show(options.archive)
  if (status === "active" && origin.stream === options.stream) {
    return yield* failure(
      `${origin.name} archives the stream ${origin.stream} itself: what is replayed would be archived ` +
        `once more; name another stream, or pause it first with \`holdfast archive pause ${origin.name}\``
    )
  }
})
