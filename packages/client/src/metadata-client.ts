/** What a program asks of the metadata service: files, rooms for chunks, where chunks are. */
import type { ChunkDescription, ChunkName, ChunkReceipt } from "@holdfast/storage"
import { DeviceId, MetadataOperations } from "@holdfast/wire"
import { Context, Effect, Layer, Option, Stream } from "effect"
import type { CallFailed } from "./errors.ts"
import { makeServiceCaller, type ServiceCallOptions } from "./service-call.ts"
import { ClientConfig } from "./settings.ts"

/** Room for a chunk on devices, under a lease. */
export type Allocation = typeof MetadataOperations.alloc.response.Type
/** How much room for a chunk, where, and on how many devices. */
export type AllocationRequest = typeof MetadataOperations.alloc.request.Type
/** What a commit made of each receipt. */
export type Publication = typeof MetadataOperations.publish.response.Type
/** A committed chunk of a file. */
export type ListedChunk = (typeof MetadataOperations.listChunks.response.Type)["chunks"][number]

const listPage = 1_000
const freePage = 1_000

const makeMetadataClient = Effect.gen(function* () {
  const caller = yield* makeServiceCaller
  const settings = yield* ClientConfig
  const createFile = caller(MetadataOperations.createFile)
  const alloc = caller(MetadataOperations.alloc)
  const publish = caller(MetadataOperations.publish)
  const abandon = caller(MetadataOperations.abandon)
  const locate = caller(MetadataOperations.locate)
  const listChunks = caller(MetadataOperations.listChunks)
  const free = caller(MetadataOperations.free)
  const reportBad = caller(MetadataOperations.reportBad)
  const status = caller(MetadataOperations.status)
  const writing = { deadline: settings.writeDeadline }

  return {
    /** Allots a file id that was never used. */
    createFile: (options?: ServiceCallOptions): Effect.Effect<number, CallFailed> =>
      Effect.map(createFile({}, options), ({ fileId }) => fileId),
    /** Reserves room for a chunk; see the operation for the codes. */
    alloc: (
      request: AllocationRequest,
      options?: ServiceCallOptions
    ): Effect.Effect<Allocation, CallFailed> => alloc(request, { ...writing, ...options }),
    /** Commits a version with the devices whose receipts count. */
    publish: (
      request: {
        readonly lease: string
        readonly chunk: ChunkDescription
        readonly goal: number
        readonly min: number
        readonly receipts: ReadonlyArray<ChunkReceipt>
      },
      options?: ServiceCallOptions
    ): Effect.Effect<Publication, CallFailed> => publish(request, { ...writing, ...options }),
    /** Gives a reservation back. */
    abandon: (lease: string): Effect.Effect<void, CallFailed> =>
      Effect.asVoid(abandon({ lease }, { deadline: settings.attemptDeadline })),
    /** Where a chunk is, with the right to read it. */
    locate: (chunk: {
      readonly fileId: number
      readonly chunkId: number
    }): Effect.Effect<MetadataOperations.ChunkLocation, CallFailed> =>
      locate({ fileId: chunk.fileId, chunkId: chunk.chunkId }),
    /** A file's committed chunks, in order of their ids. */
    listChunks: (fileId: number): Stream.Stream<ListedChunk, CallFailed> =>
      Stream.paginate(Option.none<number>(), (after) =>
        Effect.map(
          listChunks({
            fileId,
            limit: listPage,
            ...(Option.isSome(after) ? { after: after.value } : {})
          }),
          ({ chunks, more }) => {
            const last = chunks.at(-1)
            const next =
              more && last !== undefined
                ? Option.some(Option.some(last.chunk.chunkId))
                : Option.none()
            return [chunks, next] as const
          }
        )
      ),
    /** Frees chunks; what is gone already, or newer, is no error. */
    free: (chunks: ReadonlyArray<ChunkName>): Effect.Effect<void, CallFailed> =>
      Effect.gen(function* () {
        for (let start = 0; start < chunks.length; start += freePage) {
          const page = chunks
            .slice(start, start + freePage)
            .map(({ chunkId, fileId, version }) => ({ fileId, chunkId, version }))
          yield* free({ chunks: page }, writing)
        }
      }),
    /** Says that a copy is bad; the service verifies it itself. */
    reportBad: (chunk: ChunkName, deviceId: string): Effect.Effect<void, CallFailed> => {
      const { chunkId, fileId, version } = chunk
      const device = DeviceId.makeOption(deviceId)
      if (Option.isNone(device)) return Effect.void
      const request = { chunk: { fileId, chunkId, version }, deviceId: device.value }
      return Effect.asVoid(reportBad(request, { deadline: settings.attemptDeadline }))
    },
    /** Counts over everything. */
    status: status({})
  }
})

/** The metadata service as a program sees it. */
export class MetadataClient extends Context.Service<
  MetadataClient,
  Effect.Success<typeof makeMetadataClient>
>()("@holdfast/client/MetadataClient") {
  static readonly layer = Layer.effect(this, makeMetadataClient)
}
