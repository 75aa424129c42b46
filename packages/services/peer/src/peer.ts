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
import { ownersOf, type PeerId } from "@holdfast/keyspace"
import { Messaging, type MessagingError } from "@holdfast/messaging"
import type { Participant } from "@holdfast/power-state"
import type { PartitionStore, PartitionStoreError } from "@holdfast/storage"
import { Clock, Context, Effect, Layer, type Scope, Stream } from "effect"
import type { Address } from "./address.ts"
import type { AntiEntropyContext } from "./anti-entropy.ts"
import { Completeness } from "./completeness.ts"
import { makeEngine } from "./engine.ts"
import { establishIdentity, type Identity, StartRefused } from "./identity.ts"
import { makeInventory } from "./inventory.ts"
import { makeLocalSearch } from "./local-search.ts"
import { keepInTouch } from "./keep-in-touch.ts"
import type { Resident } from "./partition-table.ts"
import { PeerView } from "./peer-view.ts"
import { makePropagation } from "./propagation.ts"
import { makeRareLog } from "./rare-log.ts"
import type { Replica } from "./replica.ts"
import type { Ownership } from "./replication-steps.ts"
import { makeSearch } from "./search.ts"
import { sendFrom } from "./sender.ts"
import { servePeer } from "./serve.ts"
import type { PeerOptions, PeerSettings } from "./settings.ts"
import { completeSettings } from "./settings.ts"

/** Why a peer does not start. */
export type PeerStartError = StartRefused | PartitionStoreError | MessagingError

const membersOf = (settings: PeerSettings): ReadonlyArray<PeerId> => [
  ...new Set(settings.distribution.segments.flatMap(({ owners }) => owners))
]

const makeOwnership = (settings: PeerSettings, view: PeerView): Ownership => {
  const applications = new Map(settings.applications.map((each) => [each.name, each]))
  const ownersAt = ({ key }: Address): ReadonlyArray<Participant> =>
    ownersOf(settings.distribution, key).map((peer) => view.participantOf(peer))
  return {
    self: { peer: view.self.peer, incarnation: view.self.incarnation },
    ownersOf: ownersAt,
    birthOf: (address) => {
      const owners = ownersOf(settings.distribution, address.key)
      if (!owners.includes(view.self.peer)) return null
      // Founders are born in incarnation 0, so that all owners make the same birth.
      const participants = owners.map((peer) => ({ peer, incarnation: 0 }))
      const { epoch } = settings.distribution
      return (
        applications.get(address.application)?.create({ key: address.key, epoch, participants }) ??
        null
      )
    }
  }
}

const makeView = Effect.fnUntraced(function* (
  settings: PeerSettings,
  identity: Identity,
  onReturn: (peer: PeerId) => void
) {
  const members = membersOf(settings)
  if (!members.includes(settings.peer)) {
    const message = `${settings.peer} is no member of the distribution; add it there first`
    return yield* new StartRefused({ code: "not-a-member", message })
  }
  const clock = yield* Clock.Clock
  return new PeerView({
    self: { peer: identity.peer, incarnation: identity.incarnation, boot: identity.boot },
    members,
    now: () => Number(clock.monotonicTimeNanosUnsafe() / 1_000_000n),
    silentMillis: settings.times.silentMillis,
    onReturn
  })
})

/** What the running parts of a peer share. */
export interface PeerParts extends AntiEntropyContext {
  readonly identity: Identity
  readonly completeness: Completeness
}

const assemble = Effect.fnUntraced(function* (settings: PeerSettings) {
  const messaging = yield* Messaging
  const identity = yield* establishIdentity(settings)
  const applications = new Map(settings.applications.map((each) => [each.name, each]))
  const returned = new Set<PeerId>()
  const view: PeerView = yield* makeView(settings, identity, (peer) => {
    returned.add(peer)
    completeness.noteReturned(peer)
  })
  const completeness = new Completeness(settings.distribution, view)
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
    inventory.change(address, before?.digest() ?? null, saved?.digest() ?? null)
    propagation.noteSaved(resident)
  }
  const engine = yield* makeEngine({ limits: settings.limits, applications, onSaved: noteSaved })
  const parts: PeerParts = {
    settings,
    identity,
    applications,
    engine,
    view,
    completeness,
    inventory,
    ownership: makeOwnership(settings, view),
    warn: makeRareLog(),
    maxPayloadBytes: messaging.maxPayloadBytes,
    missed: (peer) => completeness.noteMissed(peer),
    offer: propagation.offer
  }
  return { parts, propagation, returned }
})

/** Starts a peer; it runs until the scope closes. */
export const startPeer = Effect.fn("Peer.start")(function* (
  options: PeerOptions
): Effect.fn.Return<Peer["Service"], PeerStartError, Messaging | PartitionStore | Scope.Scope> {
  const settings = completeSettings(options)
  const { parts, propagation, returned } = yield* assemble(settings)
  const { engine } = parts
  yield* Effect.forkScoped(engine.loop)
  yield* Effect.addFinalizer(() =>
    Effect.timeoutOption(engine.flush(0), settings.times.drainMillis)
  )
  yield* Effect.forkScoped(propagation.loop)
  for (const outbox of propagation.outboxes.values()) {
    for (let sender = 0; sender < settings.limits.sendersPerPeer; sender += 1) {
      yield* Effect.forkScoped(sendFrom(parts, outbox))
    }
  }
  const localSearch = yield* makeLocalSearch(engine, parts.completeness)
  const search = makeSearch(parts, localSearch)
  yield* keepInTouch(parts, returned)
  yield* servePeer(parts, { localSearch, search })
  return { identity: parts.identity, parts }
})

/** A running peer. */
export class Peer extends Context.Service<
  Peer,
  {
    readonly identity: Identity
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
