/**
 * Sends what waits in an outbox, many partitions in a message, and notes what the answer says.
 *
 * 1. Only saved states leave.
 * 2. After a failure the partitions wait again, and the next attempt comes later and later.
 */
import type { Messaging } from "@holdfast/messaging"
import type { PeerId } from "@holdfast/keyspace"
import type { Participant } from "@holdfast/power-state"
import {
  decodeParts,
  makeCaller,
  makeRequestId,
  partBytes,
  PeerReplicationOperations,
  type ServiceError
} from "@holdfast/wire"
import { Effect, Metric, Option, Result } from "effect"
import { encodeParts } from "@holdfast/wire"
import type { Address } from "./address.ts"
import { isCluster } from "./cluster-partition.ts"
import type { Engine } from "./engine.ts"
import { statesSentTotal } from "./metrics.ts"
import type { Membership } from "./membership.ts"
import type { Outbox } from "./outbox.ts"
import type { PeerView } from "./peer-view.ts"
import type { RareLog } from "./rare-log.ts"
import type { HostedApplication, Replica } from "./replica.ts"
import type { Ownership } from "./replication-steps.ts"
import { FULL_STATE_NEEDED, fullStateNeeded } from "./refusals.ts"
import { hearState, letOwnersIn, noteHeld, type Sent } from "./replication-steps.ts"
import type { PeerSettings } from "./settings.ts"

/** What sending needs. */
export interface SenderContext {
  readonly settings: PeerSettings
  readonly membership: Membership
  readonly applications: ReadonlyMap<string, HostedApplication>
  readonly engine: Engine
  readonly view: PeerView
  readonly ownership: Ownership
  readonly warn: RareLog
  readonly maxPayloadBytes: number
  /** Told when something of another peer could not be taken over. */
  readonly missed: (peer: PeerId) => void
}

interface Parcel {
  readonly address: Address
  readonly replica: Replica
  /** What the receiver lacks of it, if that is known and less. */
  readonly diff: Uint8Array | null
}

const callMerge = makeCaller(PeerReplicationOperations.merge)
const FIRST_PAUSE_MILLIS = 50
const LAST_PAUSE_MILLIS = 2_000
/** Room for the JSON of a message beside its states. */
const HEADROOM_BYTES = 65_536

/** The largest state that a message between peers carries. */
export const stateRoom = ({ maxPayloadBytes }: SenderContext): number =>
  maxPayloadBytes - HEADROOM_BYTES - partBytes(new Uint8Array())

/** Whether a peer is to hold a partition and does not take part in it yet. */
const isToBeLetIn = (
  { ownership }: SenderContext,
  address: Address,
  replica: Replica,
  peer: PeerId
) =>
  ownership.holdersOf(address).some((holder) => holder.peer === peer) &&
  replica.participants().every((participant) => participant.peer !== peer)

/** The saved state of a partition, with its receiver let in; none if it is gone or damaged. */
const savedReplica = (context: SenderContext, address: Address, peer: PeerId) => {
  const { engine, ownership } = context
  const saved = engine.table.find(address)?.saved ?? null
  if (saved !== null && !isToBeLetIn(context, address, saved, peer)) return Effect.succeed(saved)
  return engine
    .submit(address, letOwnersIn(address, ownership))
    .pipe(Effect.catch(() => Effect.succeed(null)))
}

/** The partition for a receiver: what is new to him, where it is known what he holds. */
const parcelFor = (
  { engine, view }: SenderContext,
  address: Address,
  replica: Replica,
  peer: PeerId
): Parcel => {
  const known = engine.table.find(address)?.known.get(peer)
  const diff =
    known === undefined || known.boot !== view.bootOf(peer) ? null : replica.diff(known.report)
  const isLess = diff !== null && diff.length < replica.bytes().length
  return { address, replica, diff: isLess ? diff : null }
}

/** As many partitions as fit into one message; the others are put back. */
const pack = Effect.fnUntraced(function* (
  context: SenderContext,
  outbox: Outbox,
  addresses: ReadonlyArray<Address>
) {
  const parcels: Array<Parcel> = []
  let room = context.maxPayloadBytes - HEADROOM_BYTES
  for (const address of addresses) {
    const replica = yield* savedReplica(context, address, outbox.peer)
    if (replica === null) continue
    const parcel = parcelFor(context, address, replica, outbox.peer)
    const bytes = partBytes(parcel.diff ?? replica.bytes())
    if (bytes > room && parcels.length > 0) outbox.offer(address)
    else if (bytes > room) {
      yield* context.warn("a partition is too large for a message", address)
    } else {
      room -= bytes
      parcels.push(parcel)
    }
  }
  return parcels
})

interface Reply {
  readonly outcome: PeerReplicationOperations.MergeOutcome
  readonly state?: Uint8Array
}

/** What was answered; null where it cannot be read. */
const sentBack = (
  { applications }: SenderContext,
  { application }: Address,
  { outcome: { diffOf }, state }: Reply
): Sent | null => {
  if (state === undefined) return null
  if (diffOf !== undefined) return { _tag: "Diff", bytes: state, digest: diffOf }
  const replica = applications.get(application)?.decode(state)
  return replica === undefined || Result.isFailure(replica)
    ? null
    : { _tag: "State", replica: replica.success }
}

/** Refusals of a diff after which the full state is sent: the other may know no diffs. */
const isForDiff = (parcel: Parcel, code: string | undefined): boolean =>
  parcel.diff !== null && (code === FULL_STATE_NEEDED || code === "undecodable")

/** Sends the full state next. */
const sendInFull = ({ engine }: SenderContext, outbox: Outbox, { address }: Parcel): void => {
  engine.table.find(address)?.known.delete(outbox.peer)
  outbox.offer(address)
}

/** Puts in what an answer says about one partition; the effect waits for it. */
const takeIn = (
  context: SenderContext,
  holder: Participant,
  parcel: Parcel,
  reply: Reply
): Effect.Effect<void, ServiceError> => {
  const { address, replica } = parcel
  const { engine, ownership, view } = context
  const boot = view.bootOf(holder.peer)
  switch (reply.outcome.outcome) {
    case "same":
      return engine.enqueue(
        address,
        noteHeld({
          sent: replica,
          holder,
          boot,
          self: ownership.self,
          isSaved: isCluster(address.application)
        })
      )
    case "refused":
      return isForDiff(parcel, reply.outcome.code)
        ? Effect.fail(fullStateNeeded("the receiver holds something else"))
        : context.warn("a peer refused a state", {
            ...address,
            peer: holder.peer,
            ...reply.outcome
          })
    case "state": {
      const sent = sentBack(context, address, reply)
      if (sent === null) {
        return context.warn("a peer answered with a state that cannot be read", address)
      }
      const heard = hearState({ address, sent, sender: holder, boot, ownership, isAnswered: false })
      return Effect.asVoid(engine.enqueue(address, heard))
    }
  }
}

/** Sends parcels in one message and takes in the answers; fails when there was none. */
const exchange = Effect.fnUntraced(function* (
  context: SenderContext,
  outbox: Outbox,
  parcels: ReadonlyArray<Parcel>
) {
  const { membership, settings, view } = context
  const holder = membership.participantOf(outbox.peer)
  const { attachment, response } = yield* callMerge({
    cluster: settings.cluster,
    instance: holder.peer,
    request: { sender: view.self, items: parcels.map(itemOf) },
    attachment: encodeParts(parcels.map(({ diff, replica }) => diff ?? replica.bytes())),
    deadline: settings.times.replicationMillis,
    requestId: yield* makeRequestId,
    sender: view.self.peer,
    epoch: membership.epoch
  })
  view.noteAnswer(holder.peer)
  const states = Option.getOrElse(decodeParts(attachment), () => [])
  for (const outcome of ["same", "state", "refused"] as const) {
    const count = response.outcomes.filter((each) => each.outcome === outcome).length
    if (count > 0) yield* Metric.update(Metric.withAttributes(statesSentTotal, { outcome }), count)
  }
  let nextState = 0
  const answers = response.outcomes.slice(0, parcels.length).map((outcome, index) => {
    const state = outcome.outcome === "state" ? states[nextState++] : undefined
    const parcel = parcels[index]
    if (parcel === undefined) return Effect.void
    const reply = state === undefined ? { outcome } : { outcome, state }
    return Effect.catch(takeIn(context, holder, parcel, reply), (error) => {
      if (error.code === FULL_STATE_NEEDED) {
        return Effect.sync(() => sendInFull(context, outbox, parcel))
      }
      context.missed(holder.peer)
      return context.warn("an answer could not be taken in", error)
    })
  })
  yield* Effect.forEach(answers, (answer) => answer, { discard: true })
})

const itemOf = ({ address, diff, replica }: Parcel): PeerReplicationOperations.MergeItem => ({
  application: address.application,
  key: address.key,
  ...(diff === null ? {} : { diffOf: replica.digest() })
})

/** Serves an outbox until it is interrupted. */
export const sendFrom = (
  context: SenderContext,
  outbox: Outbox
): Effect.Effect<never, never, Messaging> => {
  const { replicationItemsMax } = PeerReplicationOperations
  const attempt = Effect.fnUntraced(function* (pause: number) {
    const addresses = yield* outbox.take(replicationItemsMax)
    if (context.view.end !== null) return pause
    const parcels = yield* pack(context, outbox, addresses)
    if (parcels.length === 0) return FIRST_PAUSE_MILLIS
    const result = yield* Effect.result(exchange(context, outbox, parcels))
    if (Result.isSuccess(result)) return FIRST_PAUSE_MILLIS
    for (const { address } of parcels) outbox.offer(address)
    yield* Effect.logDebug("a peer does not answer", outbox.peer, result.failure)
    yield* Effect.sleep(pause)
    return Math.min(pause * 2, LAST_PAUSE_MILLIS)
  })
  const loop = (pause: number): Effect.Effect<never, never, Messaging> =>
    Effect.flatMap(
      Effect.catchDefect(attempt(pause), (defect) =>
        Effect.as(Effect.logError("sending died", defect), LAST_PAUSE_MILLIS)
      ),
      loop
    )
  return loop(FIRST_PAUSE_MILLIS)
}
