/** What the tests of the peer share: an application, clusters of peers, and how to ask them. */
import { keyFromBigInt, PartitionKey, PeerId } from "@holdfast/keyspace"
import { Messaging } from "@holdfast/messaging"
import type { Application } from "@holdfast/power-state"
import type { PartitionStore, PartitionStoreError } from "@holdfast/storage"
import {
  ClusterId,
  makeCaller,
  makeRequestId,
  PeerMembershipOperations,
  PeerOperations,
  PeerReplicationOperations
} from "@holdfast/wire"
import { Context, Effect, Exit, Layer, Schema, Scope } from "effect"
import type { Peer, PeerLimits, PeerOptions, PeerTimes } from "../index.ts"
import { hostApplication, startPeer } from "../index.ts"

/** Adds up numbers; a tag for the total, and one for whoever has any. 13 is not to its taste. */
export const counter: Application<number, number, number> = {
  name: "counter",
  version: 1,
  Event: Schema.Int,
  Output: Schema.Int,
  State: Schema.Int,
  initial: 0,
  apply: (step, total) => {
    if (step === 13) throw new Error("thirteen")
    return { output: total + step, state: total + step }
  },
  index: (total) => (total === 0 ? [] : [text("any"), text(`total-${total}`)])
}

/** A tag. */
export const text = (value: string): Uint8Array => new TextEncoder().encode(value)

/** Spreads small numbers over the key space. */
export const keyOf = (number: number): PartitionKey =>
  keyFromBigInt((BigInt(number) * 0x9e3779b97f4a7c15f39cc0605cedc834n) << 128n)

/** Short times, so that tests need not wait. */
export const shortTimes: Partial<PeerTimes> = {
  helloMillis: 100,
  silentMillis: 600,
  gossipMillis: 100,
  settleMillis: 20,
  resendMillis: 60,
  flushMillis: 10,
  replicationMillis: 1_000,
  requestMillis: 8_000,
  hedgeMillis: 60,
  drainMillis: 300,
  joinMillis: 1_500,
  stewardMillis: 30
}

/** Where peers live. */
export interface World {
  readonly node: (name: string) => Layer.Layer<Messaging | PartitionStore, PartitionStoreError>
  readonly client: Layer.Layer<Messaging>
}

/** The adapters that a world is made of; tests hand in the memory ones. */
interface Adapters<Network, Disk> {
  readonly MemoryNetwork: {
    readonly make: () => Effect.Effect<Network, never, Scope.Scope>
    readonly layer: (network: Network, node: string) => Layer.Layer<Messaging>
  }
  readonly MemoryDisk: { readonly make: () => Effect.Effect<Disk> }
  readonly memoryPartitionStore: (disk: Disk) => Layer.Layer<PartitionStore, PartitionStoreError>
}

/** A network and a disk for each of a few peers. */
export const makeWorld = Effect.fnUntraced(function* <Network, Disk>(
  adapters: Adapters<Network, Disk>
) {
  const { MemoryDisk, memoryPartitionStore, MemoryNetwork } = adapters
  const network = yield* MemoryNetwork.make()
  const disks = { a: yield* MemoryDisk.make(), b: yield* MemoryDisk.make() }
  const more = { c: yield* MemoryDisk.make(), d: yield* MemoryDisk.make() }
  const all = { ...disks, ...more, e: yield* MemoryDisk.make() }
  const byName = new Map<string, Disk>(Object.entries(all))
  const node = (name: string) => {
    const disk = byName.get(name)
    if (disk === undefined) throw new Error(`no disk for ${name}`)
    return Layer.merge(MemoryNetwork.layer(network, name), memoryPartitionStore(disk))
  }
  return { network, disks: all, node, client: MemoryNetwork.layer(network, "client") }
})

/** A cluster of peers that can be stopped and started again. */
export const makeCluster = Effect.fnUntraced(function* (
  world: World,
  names: ReadonlyArray<string>,
  options: {
    readonly factor?: number
    readonly times?: Partial<PeerTimes>
    readonly limits?: Partial<PeerLimits>
    /** Those that are started at once; all if absent. */
    readonly started?: ReadonlyArray<string>
  } = {}
) {
  const outer = yield* Scope.Scope
  const founders = names.map((name) => ({ peer: PeerId.make(name) }))
  const scopes = new Map<string, Scope.Closeable>()
  const peers = new Map<string, Peer["Service"]>()
  const start = Effect.fnUntraced(function* (name: string, more: Partial<PeerOptions> = {}) {
    const scope = yield* Scope.fork(outer)
    scopes.set(name, scope)
    const context = yield* Layer.buildWithScope(Layer.fresh(world.node(name)), scope)
    const peer = yield* startPeer({
      cluster: ClusterId.make("c1"),
      peer: PeerId.make(name),
      founders,
      factor: options.factor ?? 3,
      applications: [hostApplication(counter)],
      times: { ...shortTimes, ...options.times },
      limits: { ...options.limits },
      ...more
    }).pipe(Effect.provideContext(context), Scope.provide(scope))
    peers.set(name, peer)
    return peer
  })
  /** The last start of a peer. */
  const running = (name: string): Peer["Service"] => {
    const peer = peers.get(name)
    if (peer === undefined) throw new Error(`${name} was never started`)
    return peer
  }
  const stop = Effect.fnUntraced(function* (name: string) {
    const scope = scopes.get(name)
    if (scope !== undefined) yield* Scope.close(scope, Exit.void)
    scopes.delete(name)
  })
  for (const name of options.started ?? names) yield* start(name)
  const client = yield* Layer.buildWithScope(world.client, outer)
  const ask = makeAsking(Context.get(client, Messaging))
  /** Starts a peer that is no founder. */
  const join = (name: string, more: Partial<PeerOptions> = {}) =>
    start(name, { founders: [], ...more })
  return { start, stop, join, running, ...ask }
})

interface Life {
  readonly peer: string
  readonly incarnation: number
  readonly boot: number
}

const callMerge = makeCaller(PeerReplicationOperations.merge)
const callCluster = makeCaller(PeerMembershipOperations.cluster)
const callEject = makeCaller(PeerMembershipOperations.eject)
const callLeave = makeCaller(PeerMembershipOperations.leave)
const callRequest = makeCaller(PeerOperations.request)
const callRead = makeCaller(PeerOperations.read)
const callSearch = makeCaller(PeerOperations.search)
const callStatus = makeCaller(PeerOperations.peerStatus)
const callPartitions = makeCaller(PeerOperations.partitions)
const callPartition = makeCaller(PeerOperations.partition)

/** A client's calls. */
const makeAsking = (messaging: Messaging["Service"]) => {
  const base = Effect.fnUntraced(function* (peer: string | undefined, millis: number) {
    return {
      cluster: "c1",
      deadline: millis,
      requestId: yield* makeRequestId,
      ...(peer === undefined ? {} : { instance: peer })
    }
  })
  const add = Effect.fnUntraced(
    function* (
      key: PartitionKey,
      events: ReadonlyArray<unknown>,
      options: {
        readonly at?: string
        readonly writeConcern?: PeerOperations.WriteConcern
        readonly requestId?: string
        readonly millis?: number
        readonly hops?: ReadonlyArray<{ readonly peer: string; readonly epoch: number }>
        readonly application?: string
      } = {}
    ) {
      const { application = "counter", at, hops = [], millis = 8_000, requestId } = options
      const { writeConcern = "majority" } = options
      const call = yield* base(at, millis)
      const { response } = yield* callRequest({
        ...call,
        requestId: requestId ?? call.requestId,
        request: {
          application,
          key,
          events,
          writeConcern,
          hops: hops.map(({ epoch, peer }) => ({ peer: PeerId.make(peer), epoch }))
        }
      })
      return response
    },
    Effect.provideService(Messaging, messaging)
  )
  const read = Effect.fnUntraced(
    function* (key: PartitionKey, at?: string) {
      const request = { application: "counter", key, hops: [] }
      return (yield* callRead({ ...(yield* base(at, 8_000)), request })).response.state
    },
    Effect.provideService(Messaging, messaging)
  )
  const search = Effect.fnUntraced(
    function* (options: {
      readonly at?: string
      readonly from?: string
      readonly upTo?: string
      readonly after?: PeerOperations.IndexCursor
      readonly limit?: number
      readonly withState?: boolean
    }) {
      const { after, at, from = "any", limit = 100, upTo = from, withState = false } = options
      const { response } = yield* callSearch({
        ...(yield* base(at, 8_000)),
        request: {
          application: "counter",
          from: text(from),
          upTo: text(upTo),
          limit,
          withState,
          ...(after === undefined ? {} : { after })
        }
      })
      return response
    },
    Effect.provideService(Messaging, messaging)
  )
  const status = Effect.fnUntraced(
    function* (at: string) {
      return (yield* callStatus({ ...(yield* base(at, 8_000)), request: {} })).response
    },
    Effect.provideService(Messaging, messaging)
  )
  const show = Effect.fnUntraced(
    function* (key: PartitionKey, at: string) {
      const request = { application: "counter", key }
      return (yield* callPartition({ ...(yield* base(at, 8_000)), request })).response
    },
    Effect.provideService(Messaging, messaging)
  )
  const list = Effect.fnUntraced(
    function* (at: string, page: { readonly limit: number; readonly after?: string }) {
      const request = { application: "counter", ...page }
      return (yield* callPartitions({ ...(yield* base(at, 8_000)), request })).response
    },
    Effect.provideService(Messaging, messaging)
  )
  const view = Effect.fnUntraced(
    function* (at: string) {
      return (yield* callCluster({ ...(yield* base(at, 8_000)), request: {} })).response
    },
    Effect.provideService(Messaging, messaging)
  )
  const leave = Effect.fnUntraced(
    function* (peer: string, at?: string) {
      const request = { peer: PeerId.make(peer) }
      return (yield* callLeave({ ...(yield* base(at, 8_000)), request })).response
    },
    Effect.provideService(Messaging, messaging)
  )
  const eject = Effect.fnUntraced(
    function* (peer: string, at?: string, force = false) {
      const request = { peer: PeerId.make(peer), force }
      return (yield* callEject({ ...(yield* base(at, 8_000)), request })).response
    },
    Effect.provideService(Messaging, messaging)
  )
  const senderOf = ({ boot, incarnation, peer }: Life) => ({
    peer: PeerId.make(peer),
    incarnation,
    boot
  })
  /** An empty merge to a peer, in the name of another. */
  const tell = Effect.fnUntraced(
    function* (at: string, life: Life) {
      const request = { sender: senderOf(life), items: [] }
      return (yield* callMerge({ ...(yield* base(at, 8_000)), request })).response
    },
    Effect.provideService(Messaging, messaging)
  )
  const hello = (life: Life) =>
    messaging.publish({
      subject: "holdfast.c1.peer.hello",
      data: text(JSON.stringify({ sender: senderOf(life), epoch: 1 }))
    })
  return { add, read, search, status, show, list, tell, hello, view, leave, eject }
}

/** Long enough for what a lossy network heals only after many rounds. */
const PATIENCE_MILLIS = 40_000

/** Tries again until it succeeds; fails as the last try when that takes too long. */
export const eventually = <A, E, R>(check: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.suspend(() => {
    const until = performance.now() + PATIENCE_MILLIS
    const attempt: Effect.Effect<A, E, R> = Effect.catchCause(check, (cause) =>
      performance.now() > until
        ? Effect.failCause(cause)
        : Effect.andThen(Effect.sleep(20), attempt)
    )
    return attempt
  })

/** The code of the refusal that an effect fails with. */
export const codeOf = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<unknown, A, R> =>
  Effect.map(Effect.flip(effect), (error) =>
    typeof error === "object" && error !== null ? Reflect.get(error, "code") : error
  )
