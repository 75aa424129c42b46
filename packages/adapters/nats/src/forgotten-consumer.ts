/** A consumer that the server may forget: made behind a position, removed with its scope. */
import {
  AckPolicy,
  type ConsumerConfig,
  type ConsumerInfo,
  DeliverPolicy,
  type JetStreamManager,
  ReplayPolicy
} from "@nats-io/jetstream"
import { nuid } from "@nats-io/transport-node"
import { Duration, Effect } from "effect"
import { callJetStream } from "./jetstream-call.ts"
import type { ManagedConnection } from "./managed-connection.ts"
import { checkEcho, type ReaderConsumer } from "./reader-consumer.ts"
import { type NatsShard, toRecordSourceError } from "./stream-facts.ts"

const forgottenAfter = Duration.minutes(1)
const removalDeadline = Duration.seconds(1)
/**
 * The name comes with every record, in a line that is read byte by byte: as short as those that a
 * server makes up. That it is taken is as unlikely, and costs another session.
 */
const nameCharacters = 8

/** What a consumer is made with. */
export interface ConsumerOptions {
  readonly connection: ManagedConnection
  readonly manager: JetStreamManager
  readonly shard: NatsShard
  /** Leave the data of records out. */
  readonly headersOnly?: boolean
}

const wished = [
  { field: "inactive_threshold", consequence: "the consumer stays until somebody removes it" },
  { field: "mem_storage", consequence: "the consumer is kept on the server's disk" }
] as const

/** A consumer that acknowledges by itself; what was delivered is the caller's to remember. */
export const makeForgottenConsumer = (options: ConsumerOptions): ReaderConsumer => {
  const { connection, manager, shard } = options
  const { filterSubject, stream } = shard
  const add = (config: Partial<ConsumerConfig>) =>
    callJetStream(connection, () => manager.consumers.add(stream, config))
  const remove = (info: ConsumerInfo) =>
    callJetStream(connection, () => manager.consumers.delete(stream, info.name)).pipe(
      Effect.timeout(removalDeadline),
      // The server forgets it by itself when this fails.
      Effect.catch((failure) => Effect.logDebug("a consumer was not removed", failure))
    )
  return {
    acquire: (after) => {
      const config: Partial<ConsumerConfig> = {
        name: nuid.next().slice(-nameCharacters),
        description: "reader of Holdfast",
        ack_policy: AckPolicy.None,
        deliver_policy: DeliverPolicy.StartSequence,
        opt_start_seq: Number(after) + 1,
        replay_policy: ReplayPolicy.Instant,
        ...(options.headersOnly === true ? { headers_only: true } : {}),
        inactive_threshold: Number(Duration.toNanosUnsafe(forgottenAfter)),
        // It is cheap to make again, so it need not be replicated nor survive its server.
        mem_storage: true,
        num_replicas: 1,
        ...(filterSubject === undefined ? {} : { filter_subject: filterSubject })
      }
      return Effect.acquireRelease(
        Effect.mapError(add(config), (failure) => toRecordSourceError(stream, failure)),
        remove
      ).pipe(
        Effect.tap((info) =>
          checkEcho(info.config, {
            stream,
            config,
            required: ["ack_policy", "deliver_policy", "filter_subject"],
            wished
          })
        )
      )
    },
    delivered: () => undefined,
    acknowledge: () => Effect.void,
    attend: Effect.void
  }
}
