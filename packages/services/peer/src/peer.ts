/**
 * The peer: partitions of applications, replicated with other peers, and searched over all of them.
 *
 *     clients ──▶ request, read, search ──▶ engine ──▶ store (one commit for many partitions)
 *     peers   ──▶ merge, fetch, compare ──▶   │
 *     peers   ◀── outboxes ◀── propagation ◀──┘        gossip finds what all that missed
 *
 * 1. Nothing leaves before identity, boot number and the state it tells of are durable.
 * 2. Every loop survives the failure of one item; every wait has a deadline.
 * 3. A stop takes no new work, ends what is under way within a deadline, and saves.
 */
import { foundCluster } from "@holdfast/cluster"
import { KeySet, type PeerId } from "@holdfast/keyspace"
import { Messaging, type MessagingError } from "@holdfast/messaging"
import { type Participant, includesParticipant } from "@holdfast/power-state"
import type { PartitionStore, PartitionStoreError } from "@holdfast/storage"
import {
  Clock,
  Context,
  Deferred,
  Effect,
  Exit,
  FiberMap,
  Layer,
  Result,
  type Scope,
  Stream
} from "effect"
import { enterCluster } from "./admission.ts"
import type { AntiEntropyContext } from "./anti-entropy.ts"
import { hostCluster, isCluster } from "./cluster-partition.ts"
import { Completeness } from "./completeness.ts"
import { makeEngine } from "./engine.ts"
import {
  establishIdentity,
  type Identity,
  lifeIsOver,
  refuseStart,
  saveIdentity,
  type StartRefused
} from "./identity.ts"
import { makeInventory } from "./inventory.ts"
import { makeLocalSearch } from "./local-search.ts"
import { keepInTouch } from "./keep-in-touch.ts"
import { Membership } from "./membership.ts"
import { declareMetrics } from "./metrics.ts"
import type { Resident } from "./partition-table.ts"
import { type LifeEnd, PeerView } from "./peer-view.ts"
import { makePropagation, type Propagation } from "./propagation.ts"
import { makeRareLog } from "./rare-log.ts"
import { reintegrate } from "./reintegrate.ts"
import type { HostedApplication, Replica } from "./replica.ts"
import type { Ownership } from "./replication-steps.ts"
import { makeSearch } from "./search.ts"
import { sendFrom } from "./sender.ts"
import { servePeer } from "./serve.ts"
import { steward } from "./steward.ts"
import type { PeerOptions, PeerSettings } from "./settings.ts"
import { completeSettings } from "./settings.ts"

/** Why a peer does not start. */
export type PeerStartError = StartRefused | PartitionStoreError | MessagingError

const makeOwnership = (
  applications: ReadonlyMap<string, HostedApplication>,
  self: Participant,
  membership: Membership
): Ownership => ({
  self,
  // Who belongs to the cluster is let in by a join alone.
  holdersOf: ({ application, key }) => (isCluster(application) ? [] : membership.holdersOf(key)),
  isEjected: (participant) => membership.endOf(participant) === "ejected",
  isReleased: ({ application, key }) =>
    !isCluster(application) && !KeySet.has(membership.keysHeldBy(self.peer), key),
  birthOf: ({ application, key }) => {
    const participants = isCluster(application) ? [] : membership.foundersOf(key)
    if (!includesParticipant(participants, self)) return null
    const { epoch } = membership
    const isProvisional = !membership.isFirstBirth({ peer: self.peer, key, epoch })
    const birth = { key, epoch, participants, isProvisional }
    return applications.get(application)?.create(birth) ?? null
  },
  isFirstBirth: ({ application, key }, epoch) =>
    !isCluster(application) && membership.isFirstBirth({ peer: self.peer, key, epoch })
})

/** What the running parts of a peer share. */
export interface PeerParts extends AntiEntropyContext {
  readonly identity: Identity
  readonly completeness: Completeness
  /** Those with whom a comparison is under way. */
  readonly comparing: Set<PeerId>
}

/** Who the peer is and what cluster it is in, both durable. */
const begin = Effect.fnUntraced(function* (settings: PeerSettings) {
  const founded = foundCluster({ founders: settings.founders, factor: settings.factor })
  if (Result.isFailure(founded)) return yield* refuseStart("bad-founders", founded.failure.message)
  if (settings.applications.some(({ name }) => isCluster(name))) {
    return yield* refuseStart("reserved", "no application may be called cluster; name it otherwise")
  }
  const hosted = hostCluster(founded.success)
  const context = { settings, hosted, founded: founded.success }
  const established = yield* establishIdentity(settings)
  const identity = settings.isReintegrated ? yield* reintegrate(context, established) : established
  const admitted = yield* enterCluster(context, identity)
  const membership = new Membership(admitted.replica)
  const applications = new Map([...settings.applications, hosted].map((one) => [one.name, one]))
  const end = membership.endOf(admitted.identity)
  if (end !== null) return yield* lifeIsOver(admitted.identity, end)
  return { ...admitted, applications, membership }
})

/** Waits until the life or the process is over; makes it durable when the life is. */
const awaitEnd = Effect.fnUntraced(function* (
  identity: Identity,
  ended: Deferred.Deferred<LifeEnd>
) {
  const told = Deferred.makeUnsafe<LifeEnd>()
  // What cannot be saved now the next start hears from the others again.
  const keep = (end: LifeEnd) =>
    end === "fenced" ? Effect.void : Effect.ignore(saveIdentity({ ...identity, ended: end }))
  yield* Effect.forkScoped(
    Effect.flatMap(Deferred.await(ended), (end) =>
      Effect.andThen(keep(end), Deferred.succeed(told, end))
    )
  )
  return Deferred.await(told)
})

const assemble = Effect.fnUntraced(function* (settings: PeerSettings) {
  const messaging = yield* Messaging
  const { applications, identity, membership } = yield* begin(settings)
  const returned = new Set<PeerId>()
  const ended = Deferred.makeUnsafe<LifeEnd>()
  const clock = yield* Clock.Clock
  const self = { peer: identity.peer, incarnation: identity.incarnation }
  const view: PeerView = new PeerView({
    self: { ...self, boot: identity.boot },
    membership,
    now: () => Number(clock.monotonicTimeNanosUnsafe() / 1_000_000n),
    silentMillis: settings.times.silentMillis,
    onReturn: (peer) => {
      returned.add(peer)
      completeness.noteReturned(peer)
    },
    onEnd: (end) => {
      Deferred.doneUnsafe(ended, Exit.succeed(end))
    }
  })
  const completeness = new Completeness(membership, view)
  yield* Effect.forkScoped(
    Stream.runForEach(messaging.states, (state) =>
      Effect.sync(() => {
        if (state === "connected") for (const peer of view.others()) returned.add(peer)
        else completeness.noteCutOff()
      })
    )
  )
  const inventory = yield* makeInventory(applications)
  const propagation = yield* makePropagation({ settings, view, table: () => engine.table })
  const noteSaved = (resident: Resident, before: Replica | null): void => {
    const { address, saved } = resident
    inventory.change(address, before, saved)
    if (isCluster(address.application) && saved !== null) membership.note(saved)
    propagation.noteSaved(resident)
  }
  const engine = yield* makeEngine({
    limits: settings.limits,
    applications,
    onSaved: noteSaved,
    // What was begun by what the cluster said before is saved when it says something new.
    isSavedLast: ({ application }) => isCluster(application)
  })
  const parts: PeerParts = {
    settings,
    identity,
    membership,
    applications,
    engine,
    view,
    completeness,
    comparing: new Set(),
    inventory,
    ownership: makeOwnership(applications, self, membership),
    warn: makeRareLog(),
    maxPayloadBytes: messaging.maxPayloadBytes,
    missed: (peer) => completeness.noteMissed(peer),
    offer: propagation.offer
  }
  return { parts, propagation, returned, ended: yield* awaitEnd(identity, ended) }
})

/** Sends to each member, also to those who come later, for as long as it is one. */
const sendToMembers = Effect.fnUntraced(function* (parts: PeerParts, propagation: Propagation) {
  const { membership, settings, view } = parts
  const run = yield* FiberMap.makeRuntime<Messaging, string>()
  const known = new Set<PeerId>()
  const follow = (): void => {
    const others = new Set(view.others())
    for (const peer of others) {
      if (known.has(peer)) continue
      known.add(peer)
      const outbox = propagation.outboxOf(peer)
      for (let sender = 0; sender < settings.limits.sendersPerPeer; sender += 1) {
        run(`${peer} ${sender}`, sendFrom(parts, outbox))
      }
    }
    for (const peer of known) {
      if (others.has(peer)) continue
      known.delete(peer)
      propagation.forget(peer)
      for (let sender = 0; sender < settings.limits.sendersPerPeer; sender += 1) {
        run(`${peer} ${sender}`, Effect.void)
      }
    }
    view.forgetOthers()
  }
  follow()
  membership.listen(follow)
})

/** Starts a peer; it runs until the scope closes. */
export const startPeer = Effect.fn("Peer.start")(function* (
  options: PeerOptions
): Effect.fn.Return<Peer["Service"], PeerStartError, Messaging | PartitionStore | Scope.Scope> {
  const settings = completeSettings(options)
  yield* declareMetrics
  const { ended, parts, propagation, returned } = yield* assemble(settings)
  const { engine } = parts
  yield* Effect.forkScoped(engine.loop)
  yield* Effect.addFinalizer(() =>
    Effect.timeoutOption(engine.flush(0), settings.times.drainMillis)
  )
  yield* Effect.forkScoped(propagation.loop)
  yield* sendToMembers(parts, propagation)
  const localSearch = yield* makeLocalSearch(engine, parts.completeness)
  const search = makeSearch(parts, localSearch)
  yield* keepInTouch(parts, returned)
  yield* Effect.forkScoped(steward(parts))
  yield* servePeer(parts, { localSearch, search })
  return { identity: parts.identity, ended, parts }
})

/** A running peer. */
export class Peer extends Context.Service<
  Peer,
  {
    readonly identity: Identity
    /** Waits until this process is to serve no more, and says why. */
    readonly ended: Effect.Effect<LifeEnd>
    /** For tests and the simulator: what runs inside. */
    readonly parts: PeerParts
  }
>()("@holdfast/service-peer/Peer") {
  /** A peer for as long as the layer lives. */
  static readonly layer = (
    options: PeerOptions
  ): Layer.Layer<Peer, PeerStartError, Messaging | PartitionStore> =>
    Layer.effect(Peer, startPeer(options))
}
