/**
 * What a peer does by the clock: signs of life, rounds of comparison, tidying up.
 *
 * 1. Each interval one random member is compared with, also one that seems to be down.
 * 2. A member that comes back is compared with at once.
 */
import type { PeerId } from "@holdfast/keyspace"
import { Messaging } from "@holdfast/messaging"
import { PeerReplicationOperations, ServiceError, subjectOf } from "@holdfast/wire"
import { Effect, Metric, Random, Result, Schema } from "effect"
import { syncWith } from "./anti-entropy.ts"
import { countOutcome, quarantinedPartitions, residentPartitions, roundsTotal } from "./metrics.ts"
import { monotonicMillis } from "./monotonic.ts"
import type { PeerParts } from "./peer.ts"
import { endedSenderCodes } from "./peer-view.ts"
import { mendDamaged } from "./repair.ts"

const { Hello, helloName } = PeerReplicationOperations
const HelloText = Schema.fromJsonString(Schema.toCodecJson(Hello))
const encodeHello = Schema.encodeSync(HelloText)
const decodeHello = Schema.decodeUnknownResult(HelloText)
const RETURNED_POLL_MILLIS = 20

/** Repeats a task at an interval, whatever becomes of one run of it. */
const every = <R>(millis: number, task: Effect.Effect<unknown, unknown, R>) =>
  Effect.forkScoped(
    Effect.forever(
      Effect.andThen(
        Effect.catchCause(task, (cause) => Effect.logDebug("a task by the clock failed", cause)),
        Effect.sleep(millis)
      )
    )
  )

const listenForHello = Effect.fnUntraced(function* (parts: PeerParts, subject: string) {
  const messaging = yield* Messaging
  yield* messaging.subscribe({ subject, concurrency: 1, backlog: 1_024 }, ({ data }) =>
    Effect.sync(() => {
      const hello = decodeHello(new TextDecoder().decode(data))
      if (Result.isFailure(hello)) return
      const { round, sender } = hello.success
      parts.view.hear(sender, round)
    })
  )
})

/**
 * Compares with one peer; when it succeeds, that peer is caught up with. Nothing happens while a
 * comparison with him is under way: it is to be asked for again.
 */
export const compareWith = Effect.fnUntraced(function* (parts: PeerParts, peer: PeerId) {
  const { comparing, completeness } = parts
  if (parts.view.end !== null || comparing.has(peer)) return
  comparing.add(peer)
  const scope = completeness.scopeFor(peer)
  const result = yield* completeness
    .compared(peer, scope, syncWith(parts, peer, scope))
    .pipe(Effect.ensuring(Effect.sync(() => comparing.delete(peer))), Effect.result)
  yield* countOutcome(roundsTotal, Result.isSuccess(result) ? "ok" : "failed")
  if (Result.isSuccess(result)) return
  const { failure } = result
  // Who was cut off when it was put out hears of it here, and who left, that all know of it.
  const code = failure instanceof ServiceError ? failure.code : ""
  for (const end of ["left", "ejected"] as const) {
    if (code === endedSenderCodes[end]) parts.view.noteEnd(end)
  }
  return yield* Effect.fail(failure)
})

const randomOther = Effect.fnUntraced(function* (others: ReadonlyArray<PeerId>) {
  if (others.length === 0) return null
  return others[yield* Random.nextIntBetween(0, others.length)] ?? null
})

const tidy = Effect.fnUntraced(function* ({ engine, inventory, settings }: PeerParts) {
  const now = yield* monotonicMillis
  engine.table.evict({
    idleSince: now - settings.times.idleMillis,
    max: settings.limits.cachedMax
  })
  yield* Metric.update(residentPartitions, engine.table.size)
  yield* Metric.update(quarantinedPartitions, inventory.damaged.size)
})

/** Starts everything that goes by the clock; it ends with the scope. */
export const keepInTouch = Effect.fnUntraced(function* (parts: PeerParts, returned: Set<PeerId>) {
  const { engine, settings, view } = parts
  const { flushMillis, gossipMillis, helloMillis, idleMillis } = settings.times
  const messaging = yield* Messaging
  const subject = subjectOf({
    cluster: settings.cluster,
    service: "peer",
    operation: helloName
  })
  yield* listenForHello(parts, subject)
  const sayHello = Effect.suspend(() =>
    view.end !== null
      ? Effect.void
      : messaging.publish({
          subject,
          data: new TextEncoder().encode(
            encodeHello({
              sender: view.self,
              epoch: parts.membership.epoch,
              round: parts.membership.round
            })
          )
        })
  )
  yield* every(helloMillis, sayHello)
  yield* every(
    gossipMillis,
    Effect.flatMap(
      Effect.suspend(() => randomOther(view.others())),
      (peer) => (peer === null ? Effect.void : compareWith(parts, peer))
    )
  )
  yield* every(
    RETURNED_POLL_MILLIS,
    Effect.suspend(() => {
      // With whom a comparison is under way that began before, another one follows it.
      const peers = [...returned].filter((peer) => !parts.comparing.has(peer))
      for (const peer of peers) returned.delete(peer)
      // What fails is counted, and comes round again with the others.
      return Effect.forEach(peers, (peer) => Effect.ignore(compareWith(parts, peer)), {
        discard: true
      })
    })
  )
  yield* every(gossipMillis, mendDamaged(parts))
  yield* every(flushMillis, engine.flush(flushMillis))
  yield* every(Math.max(10, Math.floor(idleMillis / 4)), tidy(parts))
})
