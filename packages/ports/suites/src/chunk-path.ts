/**
 * What the contract of the chunk data path shares: servers over a map, writes, reads, summaries.
 */
import { crc32 } from "node:zlib"
import {
  ChunkEndpoint,
  type ChunkEndpointHandlers,
  type ChunkName,
  type ChunkTarget,
  ChunkTransport,
  ChunkTransportError,
  type WriteOutcome
} from "@holdfast/storage"
import { type Duration, Effect, Layer, Option, type Scope, Stream } from "effect"

/** The chunk that tests move. */
export const chunk: ChunkName = { fileId: 7, chunkId: 3, version: 11 }

/** A refusal as a handler makes it. */
export const refusal = (code: ChunkTransportError["code"], deviceId: string, message = code) =>
  new ChunkTransportError({ code, deviceId, message })

type WriteRequest = Parameters<ChunkEndpointHandlers["write"]>[0]
type ReadRequest = Parameters<ChunkEndpointHandlers["read"]>[0]

/** What a test's server does besides keeping bytes in a map. */
export interface ServerBehaviour {
  readonly transfersMax?: number
  /** Runs before a write's first byte is asked for. */
  readonly beforeWrite?: Effect.Effect<void, ChunkTransportError>
  /** Runs after each piece of a write. */
  readonly afterPiece?: (received: number) => Effect.Effect<void, ChunkTransportError>
  /** The bytes that a read answers instead of those that were written. */
  readonly data?: Stream.Stream<Uint8Array, ChunkTransportError>
}

/** A chunk server of a test. */
export interface TestServer {
  readonly target: ChunkTarget
  readonly copies: Map<string, Uint8Array>
  readonly written: Array<WriteRequest>
  readonly asked: Array<ReadRequest>
}

const receive = (server: TestServer, behaviour: ServerBehaviour, options: WriteRequest) =>
  Effect.gen(function* () {
    server.written.push(options)
    yield* behaviour.beforeWrite ?? Effect.void
    let received = 0
    const pieces: Array<Uint8Array> = []
    yield* Stream.runForEach(options.data, (piece) => {
      received += piece.length
      pieces.push(piece.slice())
      return behaviour.afterPiece?.(received) ?? Effect.void
    })
    const bytes = new Uint8Array(Buffer.concat(pieces))
    server.copies.set(server.target.deviceId, bytes)
    return { ...options.chunk, length: bytes.length, checksum: crc32(bytes) }
  })

const answerRead = (server: TestServer, behaviour: ServerBehaviour, options: ReadRequest) =>
  Effect.gen(function* () {
    server.asked.push(options)
    const { deviceId } = server.target
    if (options.capability !== server.target.capability) return yield* refusal("denied", deviceId)
    const bytes = server.copies.get(deviceId)
    if (bytes === undefined) return yield* refusal("not-found", deviceId)
    const { start, end } = Option.getOrElse(options.range, () => ({ start: 0, end: bytes.length }))
    if (start > end || end > bytes.length) return yield* refusal("out-of-range", deviceId)
    const description = { ...options.chunk, length: bytes.length, checksum: crc32(bytes) }
    const data = behaviour.data ?? Stream.fromIterable(pieces(bytes.subarray(start, end), 65_536))
    return { description, data }
  })

/** Bytes in pieces of a size; one empty piece less than nothing. */
export const pieces = (bytes: Uint8Array, pieceBytes: number): ReadonlyArray<Uint8Array> =>
  Array.from({ length: Math.ceil(bytes.length / pieceBytes) }, (_, index) =>
    bytes.subarray(index * pieceBytes, (index + 1) * pieceBytes)
  )

/** Gives a test its own data path, which outlives the servers that the test starts. */
export const onPath =
  (layer: Layer.Layer<ChunkTransport | ChunkEndpoint, unknown>) =>
  <A, E>(test: Effect.Effect<A, E, ChunkTransport | ChunkEndpoint | Scope.Scope>) =>
    Effect.flatMap(Layer.build(Layer.fresh(layer)), (context) => Effect.provide(test, context))

/** Starts a server that passes what it wrote on to the next target, until the scope closes. */
export const startServer = Effect.fnUntraced(function* (
  deviceId: string,
  behaviour: ServerBehaviour = {}
) {
  const endpoint = yield* ChunkEndpoint
  const transport = yield* ChunkTransport
  const capability = `capability.for-${deviceId}`
  const server: { -readonly [Key in keyof TestServer]: TestServer[Key] } = {
    target: { deviceId, hostId: `host-${deviceId}`, url: "", capability },
    copies: new Map(),
    written: [],
    asked: []
  }
  const refused = (error: ChunkTransportError): WriteOutcome => ({
    _tag: "Refused",
    deviceId,
    error
  })
  const handlers: ChunkEndpointHandlers = {
    write: Effect.fnUntraced(function* (options) {
      const own = yield* receive(server, behaviour, options).pipe(
        Effect.map((description): WriteOutcome => ({
          _tag: "Stored",
          receipt: { deviceId, epoch: 1, chunk: description, proof: `proof of ${deviceId}` }
        })),
        Effect.catch((error) => Effect.succeed(refused(error)))
      )
      const others = yield* transport.write({
        chunk: options.chunk,
        length: options.length,
        targets: options.targets.slice(1),
        data: Stream.fromIterable(pieces(server.copies.get(deviceId) ?? new Uint8Array(), 65_536)),
        deadline: options.deadline
      })
      return [own, ...others]
    }),
    read: (options) => answerRead(server, behaviour, options)
  }
  const { url } = yield* endpoint.listen({
    host: "127.0.0.1",
    port: 0,
    transfersMax: behaviour.transfersMax ?? 16,
    handlers
  })
  server.target = { ...server.target, url }
  return server
})

/** Writes bytes in pieces; answers what became of each target, in short. */
export const write = (
  targets: ReadonlyArray<ChunkTarget>,
  bytes: Uint8Array,
  options: { readonly deadline?: Duration.Input; readonly length?: number } = {}
) =>
  writeStream(targets, Stream.fromIterable(pieces(bytes, 50_000)), {
    length: options.length ?? bytes.length,
    deadline: options.deadline ?? "10 seconds"
  })

/** Writes a stream; answers what became of each target, in short. */
export const writeStream = (
  targets: ReadonlyArray<ChunkTarget>,
  data: Stream.Stream<Uint8Array>,
  options: { readonly deadline: Duration.Input; readonly length: number }
) =>
  ChunkTransport.use((transport) => transport.write({ chunk, targets, data, ...options })).pipe(
    Effect.map((outcomes) =>
      outcomes.map((outcome) =>
        outcome._tag === "Stored"
          ? `${outcome.receipt.deviceId} stored ${outcome.receipt.chunk.length}`
          : `${outcome.deviceId} ${outcome.error.code}`
      )
    )
  )

/** Reads a whole copy, or a range of it. */
export const read = (
  source: ChunkTarget,
  options: {
    readonly range?: { readonly start: number; readonly end: number }
    readonly deadline?: Duration.Input
  } = {}
) =>
  ChunkTransport.use((transport) =>
    Stream.runCollect(
      transport.read({
        chunk,
        source,
        range: Option.fromUndefinedOr(options.range),
        deadline: options.deadline ?? "10 seconds"
      })
    )
  ).pipe(Effect.map((all) => new Uint8Array(Buffer.concat(all))))
