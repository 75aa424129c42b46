/** The client's side of one transfer on a memory chunk path. */
import {
  type ChunkTransport,
  ChunkTransportError,
  type ChunkTarget,
  type WriteOutcome
} from "@holdfast/storage"
import { Cause, Clock, Deferred, Duration, Effect, Exit, Queue, type Scope, Stream } from "effect"
import type { ChunkServer } from "./chunk-server.ts"
import type { Network } from "./network.ts"

/** Where a client is and which servers it can find. */
export interface ChunkClient {
  readonly network: Network
  readonly node: string
  readonly servers: ReadonlyMap<string, ChunkServer>
}

type WriteOptions = Parameters<ChunkTransport["Service"]["write"]>[0]
type ReadOptions = Parameters<ChunkTransport["Service"]["read"]>[0]
type Pieces = Queue.Queue<Uint8Array, ChunkTransportError | Cause.Done>

/** Pieces on the way at a time; the sender waits for the receiver beyond them. */
const piecesMax = 2
const blockedPollMillis = 10

const failure = (
  deviceId: string,
  code: ChunkTransportError["code"],
  message: string
): ChunkTransportError => new ChunkTransportError({ code, deviceId, message })

const makePieces: Effect.Effect<Pieces> = Queue.bounded<
  Uint8Array,
  ChunkTransportError | Cause.Done
>(piecesMax)

const broken = (deviceId: string) => failure(deviceId, "unreachable", "the connection broke")

/** Waits as long as the link takes; while nothing passes, waits for it to open. */
const travel = Effect.fnUntraced(function* (network: Network, from: string, to: string) {
  while (!network.links.isOpen(from, to)) yield* Effect.sleep(blockedPollMillis)
  const millis = network.links.drawDelay(from, to)
  if (millis > 0) yield* Effect.sleep(millis)
})

const findServer = (client: ChunkClient, target: ChunkTarget) => {
  const { deviceId, url } = target
  if (!url.startsWith("memory://")) {
    return Effect.fail(failure(deviceId, "invalid", `${url} is no memory address`))
  }
  const server = client.servers.get(url)
  if (server === undefined || !server.isOpen()) {
    return Effect.fail(failure(deviceId, "unreachable", `nothing listens at ${url}`))
  }
  return server.isFull()
    ? Effect.fail(failure(deviceId, "overloaded", `${url} runs as many transfers as it may`))
    : Effect.succeed(server)
}

/** Fails with `timeout` once nothing has moved for the deadline. */
const makeWatchdog = (deviceId: string, deadline: Duration.Input) => {
  const limit = Duration.toMillis(Duration.fromInputUnsafe(deadline))
  let moved: bigint | undefined
  const touch = Effect.map(Clock.monotonicTimeNanos, (now) => {
    moved = now
  })
  const watch = Effect.gen(function* () {
    for (;;) {
      const now = yield* Clock.monotonicTimeNanos
      moved ??= now
      const idle = Number(now - moved) / 1_000_000
      if (idle >= limit) {
        return yield* failure(deviceId, "timeout", `nothing moved for ${limit} milliseconds`)
      }
      yield* Effect.sleep(Math.max(1, Math.ceil(limit - idle)))
    }
  })
  return { touch, watch }
}

/** A server's wait for a client: whoever is gone without a word is not waited for for ever. */
const within = <A, E>(wait: Effect.Effect<A, E>, deviceId: string, deadline: Duration.Input) =>
  Effect.timeoutOrElse(wait, {
    duration: deadline,
    orElse: () => Effect.fail(failure(deviceId, "timeout", "nothing moved by the deadline"))
  })

const takePieces = (
  pieces: Pieces,
  { deadline, deviceId }: { readonly deadline: Duration.Input; readonly deviceId: string }
): Stream.Stream<Uint8Array, ChunkTransportError> =>
  Stream.fromEffectRepeat(within(Queue.take(pieces), deviceId, deadline))

/** Pumps a client's data, checking that it has the announced length. */
const pump = (
  client: ChunkClient,
  options: WriteOptions,
  to: { readonly server: ChunkServer; readonly pieces: Pieces; readonly touch: Effect.Effect<void> }
) => {
  const deviceId = options.targets[0]?.deviceId ?? ""
  let sent = 0
  const mismatch = () =>
    failure(deviceId, "invalid", `${sent} bytes or more, ${options.length} were announced`)
  return options.data.pipe(
    Stream.runForEach((piece) =>
      Effect.gen(function* () {
        sent += piece.length
        if (sent > options.length) return yield* mismatch()
        yield* travel(client.network, client.node, to.server.node)
        yield* Queue.offer(to.pieces, piece.slice())
        yield* to.touch
      })
    ),
    Effect.andThen(
      Effect.suspend(() => (sent === options.length ? Effect.void : Effect.fail(mismatch())))
    ),
    Effect.andThen(Queue.end(to.pieces)),
    Effect.tapError((error) => Queue.fail(to.pieces, error))
  )
}

const attemptWrite = Effect.fnUntraced(function* (client: ChunkClient, options: WriteOptions) {
  const [first] = options.targets
  if (first === undefined) return []
  const server = yield* findServer(client, first)
  const { deviceId } = first
  const pieces = yield* makePieces
  const hungUp = yield* Deferred.make<boolean>()
  yield* Effect.addFinalizer(() =>
    Effect.andThen(Deferred.succeed(hungUp, true), Queue.fail(pieces, broken(deviceId)))
  )
  const isWanted = yield* Deferred.make<void>()
  const answer = yield* Deferred.make<ReadonlyArray<WriteOutcome>, ChunkTransportError>()
  const { touch, watch } = makeWatchdog(deviceId, options.deadline)
  const transfer = server.handlers.write({
    chunk: options.chunk,
    length: options.length,
    targets: options.targets,
    data: Stream.unwrap(
      Effect.as(
        Deferred.succeed(isWanted, undefined),
        takePieces(pieces, { deviceId, deadline: options.deadline })
      )
    ),
    deadline: Duration.fromInputUnsafe(options.deadline)
  })
  const arrival = Effect.as(travel(client.network, client.node, server.node), false)
  const serving = Effect.flatMap(Effect.raceFirst(arrival, Deferred.await(hungUp)), (isGone) =>
    isGone ? Effect.succeed([]) : transfer
  )
  server.start(serving, (exit) => {
    const outcome = Exit.isSuccess(exit) ? exit : Exit.fail(broken(deviceId))
    Deferred.doneUnsafe(answer, outcome)
  })
  const sending = Effect.andThen(
    Deferred.await(isWanted),
    Effect.andThen(pump(client, options, { server, pieces, touch }), Effect.never)
  )
  const answered = Effect.tap(Deferred.await(answer), () =>
    travel(client.network, server.node, client.node)
  )
  return yield* Effect.raceAllFirst([answered, sending, watch])
}, Effect.scoped)

/** Sends a chunk to its first target; see the port. */
export const writeChunk = (client: ChunkClient, options: WriteOptions) =>
  Effect.catch(attemptWrite(client, options), (error) =>
    Effect.succeed(
      options.targets.map(({ deviceId }): WriteOutcome => ({ _tag: "Refused", deviceId, error }))
    )
  )

/** The server's side of a read: its bytes go into the pieces, whatever their end is. */
const serveRead = (
  client: ChunkClient,
  options: ReadOptions,
  to: { readonly server: ChunkServer; readonly pieces: Pieces }
) =>
  Effect.gen(function* () {
    const { server, pieces } = to
    const { deviceId, capability } = options.source
    yield* travel(client.network, client.node, server.node)
    const { chunk, range } = options
    const { data } = yield* server.handlers.read({ chunk, deviceId, capability, range })
    yield* Stream.runForEach(data, (piece) =>
      within(
        Effect.andThen(
          travel(client.network, server.node, client.node),
          Queue.offer(pieces, piece.slice())
        ),
        deviceId,
        options.deadline
      )
    )
  })

const attemptRead = Effect.fnUntraced(function* (
  client: ChunkClient,
  options: ReadOptions
): Effect.fn.Return<
  Stream.Stream<Uint8Array, ChunkTransportError>,
  ChunkTransportError,
  Scope.Scope
> {
  const { deviceId } = options.source
  const server = yield* findServer(client, options.source)
  const pieces = yield* makePieces
  const hungUp = yield* Deferred.make<void>()
  yield* Effect.addFinalizer(() => Deferred.succeed(hungUp, undefined))
  const serving = serveRead(client, options, { server, pieces })
  server.start(Effect.raceFirst(serving, Deferred.await(hungUp)), (exit) => {
    if (Exit.isSuccess(exit)) Queue.endUnsafe(pieces)
    else
      Queue.failCauseUnsafe(
        pieces,
        Cause.hasFails(exit.cause) ? exit.cause : Cause.fail(broken(deviceId))
      )
  })
  const message = "no byte came by the deadline"
  const orElse = () => Effect.fail(failure(deviceId, "timeout", message))
  return Stream.fromEffectRepeat(
    Effect.timeoutOrElse(Queue.take(pieces), { duration: options.deadline, orElse })
  )
})

/** Reads a chunk or a range of it; see the port. */
export const readChunk = (
  client: ChunkClient,
  options: ReadOptions
): Stream.Stream<Uint8Array, ChunkTransportError> => Stream.unwrap(attemptRead(client, options))
