/** The consumer that a reader has on the server: made behind a position, removed with its scope. */
import {
  AckPolicy,
  type ConsumerInfo,
  DeliverPolicy,
  type JetStreamManager,
  ReplayPolicy
} from "@nats-io/jetstream"
import { nuid } from "@nats-io/transport-node"
import { RecordSourceError } from "@holdfast/records"
import { Duration, Effect, type Scope } from "effect"
import { callJetStream } from "./jetstream-call.ts"
import type { ManagedConnection } from "./managed-connection.ts"
import { type NatsShard, toRecordSourceError } from "./stream-facts.ts"

const forgottenAfter = Duration.minutes(1)
const removalDeadline = Duration.seconds(1)

/** Makes a consumer that acknowledges by itself and starts behind the position. */
export const acquireConsumer = (options: {
  readonly connection: ManagedConnection
  readonly manager: JetStreamManager
  readonly shard: NatsShard
  readonly after: bigint
  /** Leave the data of records out. */
  readonly headersOnly?: boolean
}): Effect.Effect<ConsumerInfo, RecordSourceError, Scope.Scope> => {
  const { connection, manager, shard } = options
  const add = callJetStream(connection, () =>
    manager.consumers.add(shard.stream, {
      name: `holdfast-${nuid.next()}`,
      ack_policy: AckPolicy.None,
      deliver_policy: DeliverPolicy.StartSequence,
      opt_start_seq: Number(options.after) + 1,
      replay_policy: ReplayPolicy.Instant,
      ...(options.headersOnly === true ? { headers_only: true } : {}),
      inactive_threshold: Number(Duration.toNanosUnsafe(forgottenAfter)),
      // It is cheap to make again, so it need not be replicated nor survive its server.
      mem_storage: true,
      num_replicas: 1,
      ...(shard.filterSubject === undefined ? {} : { filter_subject: shard.filterSubject })
    })
  )
  const remove = (info: ConsumerInfo) =>
    callJetStream(connection, () => manager.consumers.delete(shard.stream, info.name)).pipe(
      Effect.timeout(removalDeadline),
      // The server forgets it by itself when this fails.
      Effect.catch((failure) => Effect.logDebug("a consumer was not removed", failure))
    )
  return Effect.acquireRelease(
    Effect.mapError(add, (failure) => toRecordSourceError(shard.stream, failure)),
    remove
  ).pipe(Effect.tap((info) => checkEcho(info, shard)))
}

/** A server leaves out what it does not know without a word, so its answer is compared. */
const checkEcho = (
  info: ConsumerInfo,
  shard: NatsShard
): Effect.Effect<void, RecordSourceError> => {
  const isAsAsked =
    info.config.ack_policy === AckPolicy.None &&
    info.config.deliver_policy === DeliverPolicy.StartSequence &&
    (info.config.filter_subject ?? "") === (shard.filterSubject ?? "")
  if (isAsAsked) return Effect.void
  return Effect.fail(
    new RecordSourceError({
      code: "unsupported",
      message: `the server made another consumer of ${shard.stream} than was asked for`
    })
  )
}
