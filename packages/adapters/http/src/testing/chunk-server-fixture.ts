/** A chunk server for tests: copies in a map, a relay to the next target, faults as wanted. */
import {
  ChunkEndpoint,
  type ChunkEndpointHandlers,
  type ChunkName,
  type ChunkTarget,
  ChunkTransport,
  ChunkTransportError,
  type WriteOutcome
} from "@holdfast/storage"
import { crc32 } from "node:zlib"
import { Effect, Option, Stream } from "effect"

/** The capability that the fixture takes for valid. */
export const goodCapability = "good.token"

/** A refusal. */
export const refusal = (
  code: ChunkTransportError["code"],
  deviceId: string,
  message = "as the test wants it"
): ChunkTransportError => new ChunkTransportError({ code, deviceId, message })

/** A fixture's state and address. */
export interface ServerFixture {
  readonly target: ChunkTarget
  readonly copies: Map<string, Uint8Array>
  /** Writes that reached the handler. */
  readonly writes: () => number
}

/** What the fixture does wrong. */
export interface ServerFaults {
  readonly beforeBytes?: ChunkTransportError
  readonly afterBytes?: { readonly bytes: number; readonly error: ChunkTransportError }
  readonly hold?: Effect.Effect<void>
  readonly transfersMax?: number
}

const keyOf = (chunk: ChunkName) => `${chunk.fileId}/${chunk.chunkId}/${chunk.version}`

type WriteRequest = Parameters<ChunkEndpointHandlers["write"]>[0]

const storeWith = (
  fixture: { readonly deviceId: string; readonly copies: Map<string, Uint8Array> },
  faults: ServerFaults
) =>
  Effect.fnUntraced(function* (options: WriteRequest) {
    const { deviceId } = fixture
    if (options.targets[0]?.capability !== goodCapability) return yield* refusal("denied", deviceId)
    if (faults.beforeBytes !== undefined) return yield* faults.beforeBytes
    yield* faults.hold ?? Effect.void
    let received = 0
    const pieces = yield* options.data.pipe(
      Stream.tap((piece) => {
        received += piece.length
        return faults.afterBytes !== undefined && received >= faults.afterBytes.bytes
          ? Effect.fail(faults.afterBytes.error)
          : Effect.void
      }),
      Stream.runCollect
    )
    const bytes = new Uint8Array(Buffer.concat(pieces))
    fixture.copies.set(keyOf(options.chunk), bytes)
    return { ...options.chunk, length: bytes.length, checksum: crc32(bytes) }
  })

/** Starts a fixture server as device `deviceId`. */
export const startServer = Effect.fnUntraced(function* (
  deviceId: string,
  faults: ServerFaults = {}
) {
  const endpoint = yield* ChunkEndpoint
  const transport = yield* ChunkTransport
  const copies = new Map<string, Uint8Array>()
  let writes = 0
  const store = storeWith({ deviceId, copies }, faults)
  const handlers: ChunkEndpointHandlers = {
    write: (options) =>
      Effect.suspend(() => {
        writes += 1
        return store(options)
      }).pipe(
        Effect.map((chunk): WriteOutcome => ({
          _tag: "Stored",
          receipt: { deviceId, epoch: 1, chunk, proof: `proof of ${deviceId}` }
        })),
        Effect.catch((error) => Effect.succeed<WriteOutcome>({ _tag: "Refused", deviceId, error })),
        Effect.flatMap((own) =>
          transport
            .write({
              chunk: options.chunk,
              length: options.length,
              targets: options.targets.slice(1),
              data: Stream.make(copies.get(keyOf(options.chunk)) ?? new Uint8Array(0)),
              deadline: options.deadline
            })
            .pipe(Effect.map((others) => [own, ...others]))
        )
      ),
    read: ({ chunk, range, capability }) =>
      Effect.gen(function* () {
        if (capability !== goodCapability) return yield* refusal("denied", deviceId)
        const bytes = copies.get(keyOf(chunk))
        if (bytes === undefined) return yield* refusal("not-found", deviceId)
        const { start, end } = Option.getOrElse(range, () => ({ start: 0, end: bytes.length }))
        const cut = faults.afterBytes
        const data =
          cut === undefined
            ? Stream.make(bytes.subarray(start, end))
            : Stream.make(bytes.subarray(0, cut.bytes)).pipe(Stream.concat(Stream.fail(cut.error)))
        const description = { ...chunk, length: bytes.length, checksum: crc32(bytes) }
        return { description, data }
      })
  }
  const { url } = yield* endpoint.listen({
    host: "127.0.0.1",
    port: 0,
    transfersMax: faults.transfersMax ?? 16,
    handlers
  })
  const target = { deviceId, hostId: `host-${deviceId}`, url, capability: goodCapability }
  const fixture: ServerFixture = { target, copies, writes: () => writes }
  return fixture
})

/** The chunk that tests move. */
export const chunk: ChunkName = { fileId: 7, chunkId: 3, version: 11 }

/** Bytes that differ from place to place. */
export const patterned = (length: number): Uint8Array =>
  new Uint8Array(length).map((_, index) => (index * 31 + (index >>> 8)) & 0xff)

/** What became of each target, in short. */
export const summary = (outcomes: ReadonlyArray<WriteOutcome>): ReadonlyArray<string> =>
  outcomes.map((outcome) =>
    outcome._tag === "Stored"
      ? `${outcome.receipt.deviceId} stored ${outcome.receipt.chunk.length}`
      : `${outcome.deviceId} ${outcome.error.code}`
  )
