/**
 * A durable consumer, acknowledged up to what is archived: `nats consumer info` shows how far that
 * is, and how much is under way.
 *
 *     open ──▶ made anew behind the checkpoint ──deliver──▶ unacknowledged ──acknowledge──▶ floor
 *                   ▲                                          │ every third of `ackWait`
 *                   └── another reader makes it anew           └──▶ "still working on it", each
 *
 * 1. Where to go on is the caller's checkpoint, never the floor: the consumer is made anew for each
 *    session, behind the newest position that was acknowledged. What then comes twice is a repeat.
 * 2. An acknowledgement covers everything below it, and is confirmed by the server. One that is
 *    lost costs deliveries that come again, no record.
 * 3. Every delivery that is not acknowledged is kept alive, not the newest alone: the server would
 *    deliver the others again.
 * 4. Who opens a shard takes its consumer over. The reader that had it notices, falls silent and
 *    does not take it back by itself: its caller may have lost the shard.
 * 5. The floor is for people. A server shows 0 from the making of a consumer to the first
 *    acknowledgement, and what a stale reader says before it notices moves it, too.
 */
import { AckPolicy, type ConsumerConfig, DeliverPolicy, ReplayPolicy } from "@nats-io/jetstream"
import { nuid } from "@nats-io/transport-node"
import { Duration, Effect } from "effect"
import { answerSubject, replyPrefix } from "./delivery-info.ts"
import type { ConsumerOptions } from "./forgotten-consumer.ts"
import { callJetStream } from "./jetstream-call.ts"
import { checkEcho, type ReaderConsumer, ReaderSuperseded } from "./reader-consumer.ts"
import { toRecordSourceError } from "./stream-facts.ts"
import { Unacknowledged } from "./unacknowledged.ts"

/** How a durable consumer is kept. */
export interface DurableOptions {
  /** The consumer's name on the server. */
  readonly name: string
  /** The server delivers again what it hears nothing of for so long. */
  readonly ackWait: Duration.Duration
  /** Deliveries that may be unacknowledged at a time; more wait on the server. */
  readonly ackPendingMax: number
}

/** Deliveries that are kept alive before others get a turn. */
const touchedAtOnce = 1_024

/** A consumer under a name of its own; `after` is what was acknowledged before. */
export const makeDurableConsumer = (
  options: ConsumerOptions & { readonly durable: DurableOptions; readonly after: bigint }
): ReaderConsumer => {
  const { connection, durable, manager, shard } = options
  const { filterSubject, stream } = shard
  const reader = `holdfast reader ${nuid.next()}`
  const unacknowledged = new Unacknowledged()
  let acknowledged = options.after
  let hasTaken = false
  /** What answers begin with in this session; empty before its first delivery. */
  let prefix = ""

  const call = <A>(work: () => Promise<A>) =>
    Effect.mapError(callJetStream(connection, work), (failure) =>
      toRecordSourceError(stream, failure)
    )

  /** Whose the consumer is now, as it says itself; none while there is no such consumer. */
  const holder = callJetStream(connection, () => manager.consumers.info(stream, durable.name)).pipe(
    Effect.map(({ config }) => config.description ?? ""),
    Effect.catch((failure) =>
      failure.kind === "no-consumer"
        ? Effect.succeed(undefined)
        : Effect.fail(toRecordSourceError(stream, failure))
    )
  )

  const acquire: ReaderConsumer["acquire"] = Effect.fnUntraced(function* () {
    unacknowledged.clear()
    prefix = ""
    const held = yield* holder
    // A server that keeps no description cannot tell whose it is.
    if (hasTaken && held !== undefined && held !== "" && held !== reader) {
      return yield* new ReaderSuperseded({
        message: `another reader has taken the consumer ${durable.name} of ${stream} over`
      })
    }
    if (held !== undefined) {
      yield* call(() => manager.consumers.delete(stream, durable.name))
    }
    const config: Partial<ConsumerConfig> = {
      durable_name: durable.name,
      description: reader,
      ack_policy: AckPolicy.All,
      ack_wait: Number(Duration.toNanosUnsafe(durable.ackWait)),
      max_ack_pending: durable.ackPendingMax,
      deliver_policy: DeliverPolicy.StartSequence,
      opt_start_seq: Number(acknowledged) + 1,
      replay_policy: ReplayPolicy.Instant,
      ...(filterSubject === undefined ? {} : { filter_subject: filterSubject })
    }
    const info = yield* call(() => manager.consumers.add(stream, config))
    hasTaken = true
    yield* checkEcho(info.config, {
      stream,
      config,
      required: ["ack_policy", "ack_wait", "deliver_policy", "filter_subject", "max_ack_pending"],
      wished: [
        { field: "description", consequence: "two readers of one shard take turns unnoticed" }
      ]
    })
    return info
  })

  const acknowledge: ReaderConsumer["acknowledge"] = Effect.fnUntraced(function* (upTo) {
    if (upTo > acknowledged) acknowledged = upTo
    const delivery = unacknowledged.newestUpTo(Number(upTo))
    if (delivery === undefined) return
    const subject = answerSubject(prefix, delivery)
    yield* call(() => connection.native.request(subject, "+ACK", { timeout: ackDeadlineMs }))
    unacknowledged.forgetUpTo(delivery.position)
  })

  const touch = Effect.gen(function* () {
    const deliveries = unacknowledged.all()
    for (let at = 0; at < deliveries.length; at += touchedAtOnce) {
      for (const delivery of deliveries.slice(at, at + touchedAtOnce)) {
        if (connection.state() !== "connected") continue
        connection.native.publish(answerSubject(prefix, delivery), "+WPI")
      }
      yield* Effect.yieldNow
    }
  })

  return {
    acquire,
    delivered: (info, reply) => {
      if (prefix === "") prefix = replyPrefix(reply)
      unacknowledged.add(info)
    },
    acknowledge,
    attend: Effect.forever(
      Effect.andThen(Effect.sleep(Duration.times(durable.ackWait, 1 / 3)), touch)
    )
  }
}

/** How long the server may take to confirm an acknowledgement. */
const ackDeadlineMs = 2_000
