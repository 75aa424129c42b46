/**
 * Chunks: bytes onto devices and back, past the broker.
 *
 *     write  alloc ─▶ bytes to the devices, fsynced ─▶ receipts ─▶ publish
 *     read   locate ─▶ a holder ─▶ checksum right? ─▶ bytes
 *                        └─ slow or wrong: the next holder
 *
 * 1. A write is answered when at least `min` copies are durable and committed.
 * 2. A read answers bytes whose checksum is right, or an error that names what each holder did.
 * 3. Every wait has a deadline; nothing is tried without end.
 */
import type { SegmentChunk } from "@holdfast/catalogue"
import type { ByteRange } from "@holdfast/segment"
import {
  type ChunkTarget,
  ChunkTransport,
  type ChunkTransportError,
  type WriteOutcome
} from "@holdfast/storage"
import { DeviceId, makeRequestId } from "@holdfast/wire"
import { Context, Data, Effect, Layer, Option, Result, Stream } from "effect"
import { CallFailed, ChunkUnreadable, ChunkUnwritten, type HolderFailure } from "./errors.ts"
import { hedged } from "./hedge.ts"
import { makeLocationCache } from "./location-cache.ts"
import { type Allocation, MetadataClient } from "./metadata-client.ts"
import { crc32 } from "./platform.ts"
import { ClientConfig } from "./settings.ts"

/** What to write, and how many copies to make. */
export interface WriteChunkOptions {
  readonly fileId: number
  readonly bytes: Uint8Array
  /** CRC-32 of the bytes. */
  readonly checksum: number
  readonly want: number
  /** Fewer durable copies than this are a failure. */
  readonly min: number
  /** Makes retries of the same write the same requests. */
  readonly requestId?: string | undefined
}

/** A committed chunk and how many copies it has now. */
export interface WrittenChunk {
  readonly chunk: SegmentChunk
  readonly copies: number
}

/** What to read. */
export interface ReadChunkOptions {
  readonly chunk: SegmentChunk
  /** All bytes when absent; then the chunk's checksum is checked. */
  readonly range?: ByteRange | undefined
  /** Whether bytes of a range are right; false makes the reader ask another holder. */
  readonly accept?: ((bytes: Uint8Array) => boolean) | undefined
}

const writeAttemptsMax = 8
const codesToStartAnew = new Set(["lease-expired", "unknown-lease", "too-few-copies"])

class HolderRefused extends Data.TaggedError("HolderRefused")<{
  readonly deviceId: string
  readonly reason: string
  readonly isBad: boolean
  readonly isDenied: boolean
}> {}

const transportRefused = (error: ChunkTransportError, deviceId: string) =>
  new HolderRefused({
    deviceId,
    reason: `${error.code}: ${error.message}`,
    isBad: error.code === "corrupt" || error.code === "not-found",
    isDenied: error.code === "denied"
  })

/** Collects a stream that must have exactly `length` bytes. */
const collectExactly = <E>(
  stream: Stream.Stream<Uint8Array, E>,
  length: number
): Effect.Effect<Option.Option<Uint8Array>, E> =>
  Effect.suspend(() => {
    const whole = new Uint8Array(length)
    let filled = 0
    let tooMany = false
    const take = (part: Uint8Array) =>
      Effect.sync(() => {
        if (filled + part.length > length) tooMany = true
        else whole.set(part, filled)
        filled += part.length
      })
    return Effect.map(
      Stream.runForEach(
        Stream.takeWhile(stream, () => !tooMany),
        take
      ),
      () => (!tooMany && filled === length ? Option.some(whole) : Option.none())
    )
  })

/** Who refused: a target that was never reached has the error of the one before it. */
const refusalsOf = (outcomes: ReadonlyArray<WriteOutcome>): ReadonlyArray<HolderFailure> =>
  outcomes.flatMap((outcome) => {
    switch (outcome._tag) {
      case "Stored":
        return []
      case "Refused": {
        const { error } = outcome
        const deviceId = error.deviceId === "" ? outcome.deviceId : error.deviceId
        return [{ deviceId, reason: `${error.code}: ${error.message}` }]
      }
    }
  })

const makeChunkClient = Effect.gen(function* () {
  const metadata = yield* MetadataClient
  const transport = yield* ChunkTransport
  const settings = yield* ClientConfig
  const locations = makeLocationCache(metadata)

  const readFrom = (
    options: ReadChunkOptions,
    source: ChunkTarget
  ): Effect.Effect<Uint8Array, HolderRefused> =>
    Effect.gen(function* () {
      const { chunk, range } = options
      const { deviceId } = source
      const bad = (reason: string) =>
        new HolderRefused({ deviceId, reason, isBad: true, isDenied: false })
      const stream = transport.read({
        chunk: { fileId: chunk.fileId, chunkId: chunk.chunkId, version: chunk.version },
        source,
        range: Option.fromUndefinedOr(range),
        deadline: settings.transferDeadline
      })
      const length = range === undefined ? chunk.length : range.end - range.start
      const collected = yield* collectExactly(stream, length).pipe(
        Effect.mapError((error) => transportRefused(error, deviceId))
      )
      if (Option.isNone(collected)) return yield* bad(`did not send ${length} bytes`)
      const bytes = collected.value
      if (range === undefined && crc32(bytes) !== chunk.checksum) {
        return yield* bad("sent bytes whose checksum is wrong")
      }
      if (options.accept?.(bytes) === false) return yield* bad("sent bytes that are damaged")
      return bytes
    })

  /** Tells the metadata service, which verifies it; failing to tell must not fail the read. */
  const reportBadHolders = (chunk: SegmentChunk, failures: ReadonlyArray<HolderRefused>) =>
    Effect.forEach(
      failures.filter(({ isBad }) => isBad),
      ({ deviceId }) =>
        metadata
          .reportBad(chunk, deviceId)
          .pipe(Effect.catch((error) => Effect.logDebug("a bad copy was not reported", error))),
      { discard: true }
    )

  const readLocated = Effect.fnUntraced(function* (
    options: ReadChunkOptions
  ): Effect.fn.Return<Uint8Array, CallFailed | ReadonlyArray<HolderRefused>> {
    const location = yield* locations.locate(options.chunk)
    const failures: Array<HolderRefused> = []
    if (location.chunk.version !== options.chunk.version) {
      const reason = `version ${location.chunk.version} took the place of the one wanted`
      failures.push(new HolderRefused({ deviceId: "", reason, isBad: false, isDenied: false }))
      return yield* Effect.fail(failures)
    }
    const attempts = location.holders.map((holder) =>
      Effect.tapError(readFrom(options, holder), (failure) =>
        Effect.sync(() => failures.push(failure))
      )
    )
    const bytes = yield* hedged(attempts, settings.hedgeAfter)
    if (failures.length > 0) yield* reportBadHolders(options.chunk, failures)
    return bytes
  })

  const read = Effect.fnUntraced(function* (
    options: ReadChunkOptions
  ): Effect.fn.Return<Uint8Array, CallFailed | ChunkUnreadable> {
    const { chunk, range } = options
    const cached = yield* Effect.result(readLocated(options))
    if (Result.isSuccess(cached)) return cached.success
    if (cached.failure instanceof CallFailed) return yield* cached.failure
    // The location may be old, or the right to read may have lapsed: once more with a fresh one.
    locations.forget(chunk)
    const fresh = yield* Effect.result(readLocated(options))
    if (Result.isSuccess(fresh)) return fresh.success
    if (fresh.failure instanceof CallFailed) return yield* fresh.failure
    locations.forget(chunk)
    yield* reportBadHolders(chunk, fresh.failure)
    const holders = fresh.failure.map(({ deviceId, reason }) => ({ deviceId, reason }))
    const what = `Chunk ${chunk.fileId}/${chunk.chunkId} version ${chunk.version}`
    const why = holders.map(({ deviceId, reason }) => `${deviceId} ${reason}`).join("; ")
    const message = `${what} cannot be read: ${why || "no device holds it"}.`
    return yield* new ChunkUnreadable({ chunk, range, holders, message })
  })

  const send = (allocation: Allocation, options: WriteChunkOptions) =>
    transport.write({
      chunk: allocation.chunk,
      length: options.bytes.length,
      targets: allocation.targets,
      data: Stream.make(options.bytes),
      deadline: settings.transferDeadline
    })

  const abandon = (allocation: Allocation) =>
    metadata
      .abandon(allocation.lease)
      .pipe(Effect.catch((error) => Effect.logDebug("a reservation was left to expire", error)))

  const attemptWrite = Effect.fnUntraced(function* (
    options: WriteChunkOptions & { readonly requestId: string },
    exclude: ReadonlyArray<DeviceId>
  ): Effect.fn.Return<WrittenChunk, CallFailed | ReadonlyArray<HolderFailure>> {
    const { bytes, checksum, fileId, min, requestId, want } = options
    const allocation = yield* metadata.alloc(
      { fileId, size: bytes.length, want, min, exclude },
      // Without those that failed before, too few may be left: that does not pass by waiting.
      {
        requestId: `${requestId}.alloc`,
        unawaited: exclude.length > 0 ? ["not-enough-devices"] : []
      }
    )
    const outcomes = yield* send(allocation, options)
    const receipts = outcomes.flatMap((outcome) =>
      outcome._tag === "Stored" ? [outcome.receipt] : []
    )
    if (receipts.length < min) {
      yield* abandon(allocation)
      return yield* Effect.fail(refusalsOf(outcomes))
    }
    const chunk = { ...allocation.chunk, length: bytes.length, checksum }
    const published = yield* metadata.publish(
      { lease: allocation.lease, chunk, goal: want, min, receipts },
      { requestId: `${requestId}.publish` }
    )
    return { chunk, copies: published.copies }
  })

  const write = Effect.fnUntraced(function* (
    options: WriteChunkOptions
  ): Effect.fn.Return<WrittenChunk, CallFailed | ChunkUnwritten> {
    const base = options.requestId ?? (yield* makeRequestId)
    const failures: Array<HolderFailure> = []
    let excluded: ReadonlyArray<DeviceId> = []
    for (let attempt = 0; attempt < writeAttemptsMax; attempt++) {
      const requestId = `${base}.${attempt}`
      const outcome = yield* Effect.result(attemptWrite({ ...options, requestId }, excluded))
      if (Result.isSuccess(outcome)) return outcome.success
      const { failure } = outcome
      if (failure instanceof CallFailed) {
        // Those that failed before may be all there are: without excluding them, once more.
        if (failure.code === "not-enough-devices" && excluded.length > 0) {
          excluded = []
          if (attempt + 1 < writeAttemptsMax) yield* Effect.sleep(settings.restartPause)
        } else if (!codesToStartAnew.has(failure.code)) return yield* failure
      } else {
        failures.push(...failure)
        const guilty = failure.flatMap(({ deviceId }) =>
          Option.toArray(DeviceId.makeOption(deviceId))
        )
        excluded = [...new Set([...excluded, ...guilty])]
      }
    }
    const { fileId, min } = options
    const reasons = new Map(failures.map(({ deviceId, reason }) => [deviceId, reason]))
    const why = Array.from(reasons, ([deviceId, reason]) => `${deviceId} ${reason}`).join("; ")
    const message = `A chunk of file ${fileId} did not get ${min} copies: ${why}.`
    const wanted = options.want
    return yield* new ChunkUnwritten({ fileId, stored: 0, wanted, holders: failures, message })
  })

  /** Reads from one holder alone and checks the whole: what `verify` does with each copy. */
  const checkCopy = (
    chunk: SegmentChunk,
    holder: ChunkTarget
  ): Effect.Effect<Option.Option<string>> =>
    readFrom({ chunk }, holder).pipe(
      Effect.as(Option.none<string>()),
      Effect.catch(({ reason }) => Effect.succeed(Option.some(reason)))
    )

  return { read, write, checkCopy, locate: locations.locate }
})

/** Writes and reads chunks; see the module comment for the promises. */
export class ChunkClient extends Context.Service<
  ChunkClient,
  Effect.Success<typeof makeChunkClient>
>()("@holdfast/client/ChunkClient") {
  static readonly layer = Layer.effect(this, makeChunkClient)
}
