/**
 * Opens damaged directories as their services do, in a process of its own: what LMDB finds in its
 * memory map may end the process, which is what the fuzz is there to see.
 */
import { createHmac } from "node:crypto"
import { filePartitionStore } from "@holdfast/adapter-file"
import { MemoryNetwork } from "@holdfast/adapter-memory"
import { layerChunkTransport } from "@holdfast/adapter-http"
import { clientLayer, FileClient } from "@holdfast/client"
import type { Messaging } from "@holdfast/messaging"
import { metadataProcess } from "@holdfast/metadata-app"
import { peerProcess } from "@holdfast/peer-app"
import { PartitionStore } from "@holdfast/storage"
import {
  ClusterId,
  makeCaller,
  makeRequestId,
  MetadataOperations,
  PeerId,
  PeerOperations,
  ringOfOne
} from "@holdfast/wire"
import { Cause, Effect, Exit, Layer, Option, References, type Scope, Stream } from "effect"
import { startEmbedded } from "../../../../apps/holdfast/src/embedded/cluster.ts"
import { layoutOf } from "../../../../apps/holdfast/src/embedded/layout.ts"
import type { StoreKind, StoreOrder, StoreReport } from "./store-orders.ts"

const cluster = ClusterId.make("fuzz")
const peer = PeerId.make("peer-1")
const founders = [peer]
const ring = ringOfOne((text) => new Uint8Array(createHmac("sha256", "fuzz").update(text).digest()))
const files = 24
/** How long a service may take to open or to refuse what it finds. */
const deadline = "8 seconds"
/** How long a cluster may take to start, to store its files and to stop. */
const makeDeadline = "60 seconds"
/** More memory than this for one directory, in bytes, is memory that an enemy commands. */
const growthMax = 192 * 1024 * 1024

const contentOf = (number: number) => new Uint8Array(100 + 40 * number).fill(number)

/** A cluster that stores some files, and stops. */
const make = Effect.fnUntraced(function* (directory: string) {
  const running = yield* startEmbedded({
    cluster,
    directory,
    hosts: 1,
    peers: founders.length,
    workers: 0,
    port: 0,
    map: { extensionMs: 0, devicesMin: 1 },
    workerSettings: {},
    nats: Option.none()
  })
  const client = clientLayer({ cluster }).pipe(
    Layer.provideMerge(Layer.mergeAll(running.messaging, layerChunkTransport))
  )
  yield* Effect.gen(function* () {
    const store = yield* FileClient
    for (let number = 0; number < files; number += 1) {
      const data = Stream.make(contentOf(number))
      yield* store
        .put({ name: `file-${number}`, data, goal: 1, resume: false })
        .pipe(Effect.retry({ times: 50 }))
    }
  }).pipe(Effect.provide(client))
})

const everything = { application: "catalogue", ranges: [["0".repeat(64), "f".repeat(64)]] } as const

/** Everything that a peer does with its store, and a write that mends what it can. */
const useStore = Effect.gen(function* () {
  const store = yield* PartitionStore
  const none = Option.none()
  const look = Effect.gen(function* () {
    const found = yield* store.scan({ ...everything, after: none, limit: 1_000 })
    yield* store.page({ ...everything, after: none, upTo: none, limit: 1_000 })
    yield* store.size
    for (const { key } of found) yield* store.load({ application: "catalogue", key })
    return found
  })
  const found = yield* look
  const partitions = found.map(({ key }, index) => ({
    application: "catalogue",
    key,
    state: index % 3 === 0 ? Option.none() : Option.some(contentOf(index)),
    tags: [Buffer.from(`tag-${index}`)]
  }))
  yield* store.commit({ partitions, facts: [{ name: "fuzz", value: contentOf(3) }] })
  yield* look
})

const layerOfStore = (directory: string) => filePartitionStore({ directory, clusterId: cluster })

const callOf = { cluster, request: {}, deadline: "2 seconds" } as const
const askPeer = makeCaller(PeerOperations.peerStatus)
const askMetadata = makeCaller(MetadataOperations.status)

/** Starts a service, asks it how it is, and stops it. */
const serve = <A, E, B, F>(
  service: Layer.Layer<A, E, Messaging>,
  ask: Effect.Effect<B, F, Messaging>
) =>
  Effect.gen(function* () {
    const network = yield* MemoryNetwork.make()
    yield* Layer.build(service.pipe(Layer.provide(MemoryNetwork.layer(network, "service"))))
    yield* ask.pipe(Effect.provide(MemoryNetwork.layer(network, "client")))
  })

const serveKind = (kind: StoreKind, directory: string) => {
  switch (kind) {
    case "peer":
      return serve(
        peerProcess({ cluster, peer, founders, directory }),
        Effect.flatMap(makeRequestId, (requestId) => askPeer({ ...callOf, requestId }))
      )
    case "metadata":
      return serve(
        metadataProcess({ cluster, ring, directory, map: {} }),
        Effect.flatMap(makeRequestId, (requestId) => askMetadata({ ...callOf, requestId }))
      )
  }
}

/** What it was refused with, if it was; anything but a typed refusal in time is a fault. */
const refusalOf = (attempt: Effect.Effect<void, unknown, Scope.Scope>) =>
  Effect.scoped(attempt).pipe(
    Effect.timeoutOrElse({
      duration: deadline,
      orElse: () => Effect.die(new Error("it neither opened nor refused in time"))
    }),
    Effect.exit,
    Effect.flatMap((exit) => {
      if (Exit.isSuccess(exit)) return Effect.succeed([])
      const failed = Cause.findErrorOption(exit.cause)
      if (Option.isNone(failed)) return Effect.fail(Cause.pretty(exit.cause))
      const said: unknown = failed.value
      const sentence = said instanceof Error ? said.message : ""
      return sentence === ""
        ? Effect.fail("it refused without a sentence")
        : Effect.succeed([sentence])
    })
  )

const open = Effect.fnUntraced(function* (kind: StoreKind, directory: string) {
  const before = process.memoryUsage().rss
  const uses = kind === "peer" ? [Effect.provide(useStore, layerOfStore(directory))] : []
  const refusals: Array<string> = []
  // The service is started twice: what the first start makes of the damage, the second one meets.
  for (const attempt of [serveKind(kind, directory), ...uses, serveKind(kind, directory)]) {
    refusals.push(...(yield* refusalOf(attempt)))
  }
  const grown = process.memoryUsage().rss - before
  if (grown > growthMax) {
    return yield* Effect.fail(`one directory took ${Math.round(grown / 1024 ** 2)} MiB`)
  }
  return refusals
})

const obey = (order: StoreOrder): Effect.Effect<StoreReport, unknown> => {
  switch (order._tag) {
    case "Make": {
      const { journal, peer: peerIn } = layoutOf(order.directory)
      return Effect.as(Effect.timeout(Effect.scoped(make(order.directory)), makeDeadline), {
        _tag: "Made",
        peer: peerIn(peer),
        metadata: journal
      })
    }
    case "Open":
      return Effect.map(open(order.kind, order.directory), (refusals) => ({
        _tag: "Opened",
        refusals
      }))
  }
}

process.on("message", (order: StoreOrder) => {
  void obey(order)
    .pipe(
      Effect.catchCause((cause) =>
        Effect.succeed<StoreReport>({ _tag: "Faulty", text: Cause.pretty(cause) })
      ),
      Effect.provideService(References.MinimumLogLevel, "None"),
      Effect.runPromise
    )
    .then((report) => process.send?.(report))
})
process.once("disconnect", () => process.exit())
