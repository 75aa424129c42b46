/** What clients ask: files, reservations, commits, locations, frees. */
import {
  abandon,
  addressOf,
  alloc,
  createFile,
  DeviceId,
  free,
  listChunks,
  locate,
  publish,
  reportBad,
  type ChunkRecord,
  type DeviceAddress,
  type Draft,
  type Location,
  type PublishedDevice
} from "@holdfast/chunk-map"
import type { ChunkDescription, ChunkTarget } from "@holdfast/storage"
import { MetadataOperations, ServiceError, type RequestContext } from "@holdfast/wire"
import { Duration, Effect, Option, Random, Result } from "effect"
import { checkReceipt, targetsOf, type Wanted } from "./capabilities.ts"
import type { Engine } from "./engine.ts"
import { refused } from "./refusals.ts"

/**
 * A lease to write, beyond the end of its reservation: clocks differ, and writes take their time.
 */
const LEASE_GRACE_MS = 30_000

/** How long a request's sender waits for it. */
export const waitOf = (context: RequestContext): { readonly waitMs?: number } =>
  Option.match(context.deadline, {
    onNone: () => ({}),
    onSome: (deadline) => ({ waitMs: Duration.toMillis(deadline) })
  })

/** The chunk as messages describe it. */
export const describe = (record: ChunkRecord): ChunkDescription => {
  const { fileId, chunkId, version, length, checksum } = record
  return { fileId, chunkId, version, length, checksum }
}

/** The number of a lease; none for a text that no lease was ever given as. */
export const leaseNumber = (text: string): number => (/^\d{1,15}$/.test(text) ? Number(text) : -1)

const addressesOf = (
  draft: Draft,
  deviceIds: ReadonlyArray<string>
): ReadonlyArray<DeviceAddress> =>
  deviceIds.flatMap((deviceId) => {
    const address = addressOf(draft, deviceId)
    return address === undefined ? [] : [address]
  })

interface Found {
  readonly location: Location
  readonly addresses: ReadonlyArray<DeviceAddress>
}

const find = (
  draft: Draft,
  key: { readonly fileId: number; readonly chunkId: number },
  turn: number
): Found => {
  const location = locate(draft, key, turn)
  return {
    location,
    addresses: location._tag === "Found" ? addressesOf(draft, location.holders) : []
  }
}

const drawTurn = Random.nextIntBetween(0, 2 ** 30)

const readsOf = (engine: Engine, { location, addresses }: Found): ReadonlyArray<Wanted> => {
  if (location._tag !== "Found") return []
  const chunk = describe(location.record)
  const { readCapabilityMs: livesMs } = engine.options.service
  return addresses.map((address) => ({ address, chunk, right: "read", livesMs }))
}

const asSearchResult = (
  { location }: Found,
  holders: ReadonlyArray<ChunkTarget>
): MetadataOperations.SearchResult => {
  switch (location._tag) {
    case "Found": {
      const chunk = describe(location.record)
      const { goal } = location.record
      return { _tag: "Found", location: { chunk, goal, holders } }
    }
    case "NotReady":
      return { _tag: "NotReady" }
    case "Missing":
      return { _tag: "Missing", chunk: describe(location.record) }
    case "Corrupt":
      return { _tag: "Corrupt", chunk: describe(location.record) }
    case "NoSuchChunk":
      return { _tag: "NoSuchChunk" }
  }
}

const notFound = (engine: Engine, location: Location, name: string): ServiceError => {
  const retryAfterMs = engine.options.map.heartbeatMs
  switch (location._tag) {
    case "Found":
      return new ServiceError({ code: "not-ready", message: `${name} moves`, retryAfterMs })
    case "NotReady": {
      const message = `a device that may hold ${name} has not reported yet`
      return new ServiceError({ code: "not-ready", message, retryAfterMs })
    }
    case "Missing":
      return new ServiceError({ code: "missing", message: `no device holds ${name}` })
    case "Corrupt": {
      const message = `every copy of ${name} that is left is corrupt`
      return new ServiceError({ code: "corrupt", message })
    }
    case "NoSuchChunk":
      return new ServiceError({ code: "no-such-chunk", message: `${name} is not committed` })
  }
}

const run = Result.mapError

/** The devices whose names are names; a receipt may carry any text. */
const named = (devices: ReadonlyArray<PublishedDevice>) =>
  devices.flatMap(({ deviceId, status }) =>
    Option.match(DeviceId.makeOption(deviceId), {
      onNone: () => [],
      onSome: (name) => [{ deviceId: name, status }]
    })
  )

/** Bytes of a result in JSON beside its holders, at most. */
const resultBytes = 256

/** Bytes of a holder in JSON, at most. */
const targetBytes = ({ capability, deviceId, hostId, url }: ChunkTarget): number =>
  deviceId.length + hostId.length + url.length + capability.length + 64

/** The handlers of what clients ask. */
export const clientHandlers = (
  engine: Engine,
  { answerBytesMax }: { readonly answerBytesMax: number }
) => ({
  createFile: (_request: object, context: RequestContext) =>
    engine.submit(
      (draft) => run(createFile(draft, { requestId: context.requestId }), refused),
      waitOf(context)
    ),

  alloc: Effect.fnUntraced(function* (
    request: typeof MetadataOperations.alloc.request.Type,
    context: RequestContext
  ) {
    const random = yield* Random.nextIntBetween(0, 2 ** 32 - 1)
    const { requestId } = context
    const chunkId = request.chunkId ?? null
    const { granted, addresses, livesMs } = yield* engine.submit((draft) => {
      const outcome = alloc(draft, { ...request, chunkId, requestId, random })
      return Result.map(run(outcome, refused), (granted) => ({
        granted,
        addresses: addressesOf(draft, granted.devices),
        livesMs: Math.max(0, granted.expiresAt - draft.now)
      }))
    }, waitOf(context))
    const { fileId, version, leaseId } = granted
    const chunk = { fileId, chunkId: granted.chunkId, version }
    const wanted = addresses.map((address): Wanted => ({
      address,
      chunk,
      right: "write",
      livesMs: livesMs + LEASE_GRACE_MS
    }))
    const targets = yield* targetsOf(engine, wanted)
    return { lease: String(leaseId), chunk, targets, expiresAfterMs: livesMs }
  }),

  publish: (request: typeof MetadataOperations.publish.request.Type, context: RequestContext) => {
    const receipts = request.receipts.map((receipt) => checkReceipt(engine.options, receipt))
    const { goal, min } = request
    const { fileId, chunkId, version, length, checksum } = request.chunk
    const chunk = { fileId, chunkId, version, length, checksum }
    const leaseId = leaseNumber(request.lease)
    const { requestId } = context
    const command = { requestId, leaseId, chunk, goal, min, receipts }
    return engine
      .submit((draft) => run(publish(draft, command), refused), waitOf(context))
      .pipe(Effect.map(({ copies, devices }) => ({ copies, devices: named(devices) })))
  },

  abandon: (request: { readonly lease: string }, context: RequestContext) =>
    engine.submit((draft) => {
      abandon(draft, { leaseId: leaseNumber(request.lease) })
      return Result.succeed({})
    }, waitOf(context)),

  locate: Effect.fnUntraced(function* (
    request: typeof MetadataOperations.locate.request.Type,
    context: RequestContext
  ) {
    const turn = yield* drawTurn
    const found = yield* engine.submit(
      (draft) => Result.succeed(find(draft, request, turn)),
      waitOf(context)
    )
    const name = `chunk ${request.fileId}/${request.chunkId}`
    const { location, addresses } = found
    if (location._tag !== "Found" || addresses.length === 0) {
      return yield* notFound(engine, location, name)
    }
    const holders = yield* targetsOf(engine, readsOf(engine, found))
    return { chunk: describe(location.record), goal: location.record.goal, holders }
  }),

  search: Effect.fnUntraced(function* (
    request: typeof MetadataOperations.search.request.Type,
    context: RequestContext
  ) {
    const turn = yield* drawTurn
    const all = yield* engine.submit(
      (draft) => Result.succeed(request.chunks.map((key, at) => find(draft, key, turn + at))),
      waitOf(context)
    )
    const results: Array<MetadataOperations.SearchResult> = []
    let room = answerBytesMax
    for (const found of all) {
      const holders = yield* targetsOf(engine, readsOf(engine, found))
      room -= resultBytes + holders.reduce((sum, holder) => sum + targetBytes(holder), 0)
      if (room < 0 && results.length > 0) break
      results.push(asSearchResult(found, holders))
    }
    return { results }
  }),

  listChunks: (
    request: typeof MetadataOperations.listChunks.request.Type,
    context: RequestContext
  ) =>
    engine.submit((draft) => {
      const { fileId, limit } = request
      const { chunks, more } = listChunks(draft, { fileId, after: request.after ?? -1, limit })
      const listed = chunks.map(({ record, copies, health }) => ({
        chunk: describe(record),
        goal: record.goal,
        copies,
        health
      }))
      return Result.succeed({ chunks: listed, more })
    }, waitOf(context)),

  free: (request: typeof MetadataOperations.free.request.Type, context: RequestContext) => {
    const { requestId } = context
    const { chunks } = request
    return engine.submit(
      (draft) =>
        Result.map(run(free(draft, { requestId, chunks }), refused), (results) => ({ results })),
      waitOf(context)
    )
  },

  reportBad: (request: typeof MetadataOperations.reportBad.request.Type, context: RequestContext) =>
    engine.submit(
      (draft) => Result.map(run(reportBad(draft, request), refused), () => ({})),
      waitOf(context)
    )
})
