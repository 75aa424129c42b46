/**
 * Plain files of any size: in chunks onto devices, and an entry by name in the catalogue.
 *
 *     put   bytes ─▶ chunks of 32 MiB ─▶ devices ─▶ Stored, when all are committed
 *     get   entry ─▶ its chunks in order, ahead ─▶ bytes; the digest of all is checked at the end
 *
 * 1. A file is there as a whole or not at all; a new one of the same name takes its place at once.
 * 2. Every chunk's checksum is right before its bytes are passed on; a digest that is wrong in the
 *    end is an error.
 * 3. Memory is bounded by a few chunks, whatever the size of the file.
 */
import { type CatalogueOutput, FileEntry, fileChunksMax } from "@holdfast/catalogue"
import { compareBytes } from "@holdfast/segment"
import { createHash } from "node:crypto"
import { Clock, Context, Effect, Layer, Result, Schema, Stream } from "effect"
import { CatalogueClient } from "./catalogue-client.ts"
import { ChunkClient } from "./chunk-client.ts"
import {
  type CallFailed,
  type CatalogueError,
  CatalogueRefused,
  type ChunkUnreadable,
  type ChunkUnwritten,
  FileDamaged,
  FileNotFound,
  InvalidRequest
} from "./errors.ts"
import { chunkPartsOf, type FileRange, offsetsOf } from "./file-range.ts"
import { MetadataClient } from "./metadata-client.ts"
import { crc32 } from "./platform.ts"

/** A file to store. */
export interface PutFileOptions<E> {
  readonly name: string
  readonly data: Stream.Stream<Uint8Array, E>
  /** Copies of each chunk, 2 if nothing is said. */
  readonly goal?: number | undefined
  /** Bytes of a chunk, 32 MiB if nothing is said. */
  readonly chunkBytes?: number | undefined
}

/** Why a file was not stored. */
export type PutFileError = CallFailed | ChunkUnwritten | CatalogueRefused | InvalidRequest
/** Why a file cannot be read. */
export type GetFileError =
  | CallFailed
  | ChunkUnreadable
  | FileNotFound
  | FileDamaged
  | InvalidRequest

const chunkBytesDefault = 32 * 1024 * 1024
const writesAtATime = 2
const readsAhead = 2
const confirmed = { writeConcern: "majority" } as const
const decodeEntry = Schema.decodeUnknownResult(Schema.toType(FileEntry))

const notFound = (file: string) =>
  new FileNotFound({ file, message: `There is no file "${file}".` })

const damaged = ({ name }: FileEntry, what: string) =>
  new FileDamaged({ file: name, message: `The file "${name}" ${what}.` })

/** Parts of any length as pieces of exactly `size` bytes, but for the last. */
const intoPieces = <E>(
  data: Stream.Stream<Uint8Array, E>,
  size: number
): Stream.Stream<Uint8Array, E> =>
  Stream.mapAccum(
    data,
    () => ({ piece: new Uint8Array(size), filled: 0 }),
    (state, part) => {
      const full: Array<Uint8Array> = []
      let { filled, piece } = state
      for (let offset = 0; offset < part.length;) {
        const taken = Math.min(size - filled, part.length - offset)
        piece.set(part.subarray(offset, offset + taken), filled)
        filled += taken
        offset += taken
        if (filled < size) continue
        full.push(piece)
        piece = new Uint8Array(size)
        filled = 0
      }
      return [{ piece, filled }, full] as const
    },
    { onHalt: ({ filled, piece }) => (filled === 0 ? [] : [piece.subarray(0, filled)]) }
  )

const makeFileClient = Effect.gen(function* () {
  const catalogue = yield* CatalogueClient
  const chunks = yield* ChunkClient
  const metadata = yield* MetadataClient

  /** Frees every chunk of a file; what is left when that fails is told, and is nobody's. */
  const freeFile = (fileId: number): Effect.Effect<void> =>
    metadata.listChunks(fileId).pipe(
      Stream.map(({ chunk }) => chunk),
      Stream.runCollect,
      Effect.flatMap(metadata.free),
      Effect.catch((error) => Effect.logWarning(`file ${fileId} was not freed: ${error.message}`))
    )

  const conclude = Effect.fnUntraced(function* (
    output: CatalogueOutput,
    fileId: number
  ): Effect.fn.Return<void, CatalogueRefused> {
    switch (output._tag) {
      case "Accepted":
        if (output.freeFile !== undefined) yield* freeFile(output.freeFile)
        if (output.freeFile !== fileId) return
        return yield* new CatalogueRefused({
          reason: "exists",
          message: "A later file has the name by now."
        })
      case "Unchanged":
      case "Covered":
        return
      case "Refused":
        return yield* new CatalogueRefused({ reason: output.reason, message: output.message })
    }
  })

  const putChunks = Effect.fnUntraced(function* <E>(
    fileId: number,
    options: PutFileOptions<E>
  ): Effect.fn.Return<
    Pick<FileEntry, "bytes" | "chunks" | "digest">,
    E | CallFailed | ChunkUnwritten | InvalidRequest
  > {
    const { chunkBytes = chunkBytesDefault, data, goal = 2 } = options
    const hash = createHash("sha256")
    let bytes = 0
    const write = (piece: Uint8Array) =>
      chunks.write({ fileId, bytes: piece, checksum: crc32(piece), want: goal, min: goal })
    const ids = yield* intoPieces(data, chunkBytes).pipe(
      Stream.tap((piece) =>
        Effect.sync(() => {
          hash.update(piece)
          bytes += piece.length
        })
      ),
      Stream.mapEffect(write, { concurrency: writesAtATime }),
      Stream.map(({ chunk }) => chunk.chunkId),
      Stream.take(fileChunksMax + 1),
      Stream.runCollect
    )
    if (ids.length > fileChunksMax) {
      const message = `A file has at most ${fileChunksMax} chunks: choose larger chunks.`
      return yield* new InvalidRequest({ message })
    }
    return { bytes, chunks: ids, digest: new Uint8Array(hash.digest()) }
  })

  /** Stores a file; it is there under its name when this answers. */
  const put = Effect.fnUntraced(function* <E>(
    options: PutFileOptions<E>
  ): Effect.fn.Return<FileEntry, E | PutFileError> {
    const { goal = 2, name } = options
    const created = yield* Clock.currentTimeNanos
    const draft = {
      name,
      fileId: 1,
      bytes: 0,
      digest: new Uint8Array(0),
      chunks: [],
      goal,
      created
    }
    const checked = decodeEntry(draft)
    if (Result.isFailure(checked)) {
      return yield* new InvalidRequest({ message: checked.failure.message })
    }
    const fileId = yield* metadata.createFile()
    const stored = yield* putChunks(fileId, options).pipe(
      Effect.onError(() => Effect.uninterruptible(freeFile(fileId)))
    )
    const file: FileEntry = { ...checked.success, ...stored, fileId }
    const output = yield* catalogue.send(
      catalogue.fileKey(name),
      { _tag: "Stored", file },
      confirmed
    )
    yield* conclude(output, fileId)
    return file
  })

  /** What is known of a file. */
  const show = Effect.fnUntraced(function* (
    name: string
  ): Effect.fn.Return<FileEntry, CallFailed | FileNotFound> {
    const entry = yield* catalogue.entry(catalogue.fileKey(name))
    return entry._tag === "File" ? entry.file : yield* notFound(name)
  })

  /** The chunks of a file in order; fails unless they are all there and make up its length. */
  const chunksOf = Effect.fnUntraced(function* (file: FileEntry) {
    const listed = yield* Stream.runCollect(metadata.listChunks(file.fileId))
    const byId = new Map(listed.map(({ chunk }) => [chunk.chunkId, chunk]))
    const known = file.chunks.flatMap((id) => byId.get(id) ?? [])
    const missing = file.chunks.length - known.length
    if (missing > 0) return yield* damaged(file, `misses ${missing} of its chunks`)
    const bytes = known.reduce((sum, { length }) => sum + length, 0)
    if (bytes !== file.bytes) {
      return yield* damaged(file, `has ${bytes} bytes in its chunks, not ${file.bytes}`)
    }
    return known
  })

  const readChunks = Effect.fnUntraced(function* (file: FileEntry, range: FileRange) {
    const offsets = yield* Effect.fromResult(offsetsOf(file, range))
    const parts = chunkPartsOf(yield* chunksOf(file), offsets)
    const hash = createHash("sha256")
    const isWhole = offsets.start === 0 && offsets.end === file.bytes
    const bytes = Stream.fromIterable(parts).pipe(
      Stream.mapEffect(
        // All of a chunk even for a few bytes of it: only then its checksum can be checked.
        ({ chunk, end, start }) =>
          Effect.map(chunks.read({ chunk }), (whole) => whole.subarray(start, end)),
        { concurrency: readsAhead }
      ),
      Stream.tap((part) => Effect.sync(() => hash.update(part)))
    )
    if (!isWhole) return bytes
    const check = Stream.fromEffect(
      Effect.suspend(() =>
        compareBytes(new Uint8Array(hash.digest()), file.digest) === 0
          ? Effect.void
          : Effect.fail(damaged(file, "has another digest than the one it was stored with"))
      )
    )
    return Stream.concat(bytes, Stream.drain(check))
  })

  /**
   * A file's bytes, or those of a range, in parts of at most one chunk. Of a whole file, a wrong
   * digest fails it behind the last part; of a range, the chunks it touches are checked.
   */
  const get = (name: string, range: FileRange = {}): Stream.Stream<Uint8Array, GetFileError> =>
    Stream.unwrap(Effect.flatMap(show(name), (file) => readChunks(file, range)))

  /** Files whose names begin with a prefix, in order of their names. */
  const list = (prefix = ""): Stream.Stream<FileEntry, CatalogueError> =>
    catalogue.walk(catalogue.tags.files(prefix)).pipe(
      Stream.map(({ entry }) => (entry._tag === "File" ? [entry.file] : [])),
      Stream.flattenIterable
    )

  /** Deletes a file: its name first, confirmed, then its chunks. */
  const remove = Effect.fnUntraced(function* (
    name: string
  ): Effect.fn.Return<void, CallFailed | FileNotFound | CatalogueRefused> {
    const { fileId } = yield* show(name)
    const output = yield* catalogue.send(
      catalogue.fileKey(name),
      { _tag: "Deleted", name, fileId },
      confirmed
    )
    if (output._tag === "Refused") {
      return yield* new CatalogueRefused({ reason: output.reason, message: output.message })
    }
    yield* freeFile(fileId)
  })

  return { get, list, put, remove, show }
})

/** Plain files as a program uses them. */
export class FileClient extends Context.Service<
  FileClient,
  Effect.Success<typeof makeFileClient>
>()("@holdfast/client/FileClient") {
  static readonly layer = Layer.effect(this, makeFileClient)
}
