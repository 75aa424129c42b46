/**
 * Plain files of any size: in chunks onto devices, and an entry by name in the catalogue.
 *
 *     put   Begun ─▶ bytes ─▶ chunks of 32 MiB ─▶ devices ─▶ Stored, when all are committed
 *     get   entry ─▶ its chunks in order, ahead ─▶ bytes; the digest of all is checked at the end
 *
 * 1. A file is there as a whole or not at all; a new one of the same name takes its place at once.
 * 2. Every chunk's checksum is right before its bytes are passed on; a digest that is wrong in the
 *    end is an error.
 * 3. Memory is bounded by a few chunks, whatever the size of the file.
 * 4. The name knows a put's file id before its first chunk, so that whatever a dead put left is
 *    gone on with (`file-upload.ts`), or freed: by a later put, by `remove`, or by `giveUp`, which
 *    workers do with puts that stand still (`idle-puts.ts` of the archive service).
 */
import { type FileEntry, freeableFiles, namedFileOf, unfinishedFiles } from "@holdfast/catalogue"
import { compareBytes } from "@holdfast/segment"
import { createHash } from "node:crypto"
import { Context, Effect, Layer, Stream } from "effect"
import { CatalogueClient } from "./catalogue-client.ts"
import { ChunkClient } from "./chunk-client.ts"
import {
  type CallFailed,
  type CatalogueError,
  type CatalogueRefused,
  type ChunkUnreadable,
  FileDamaged,
  FileNotFound,
  type InvalidRequest
} from "./errors.ts"
import { makeFileNames } from "./file-names.ts"
import { chunkPartsOf, type FileRange, offsetsOf } from "./file-range.ts"
import { makeFileUpload } from "./file-upload.ts"
import { MetadataClient } from "./metadata-client.ts"

/** A name that left file ids behind: puts that did not end, or chunks that are still to free. */
export interface UnfinishedFile {
  readonly name: string
  readonly fileIds: ReadonlyArray<number>
  /** Those of the file ids whose puts the next one may go on with, the newest first. */
  readonly unfinished: ReadonlyArray<number>
}

/** Why a file cannot be read. */
export type GetFileError =
  | CallFailed
  | ChunkUnreadable
  | FileNotFound
  | FileDamaged
  | InvalidRequest

const readsAhead = 2

const notFound = (file: string) =>
  new FileNotFound({ file, message: `There is no file "${file}".` })

const damaged = ({ name }: FileEntry, what: string) =>
  new FileDamaged({ file: name, message: `The file "${name}" ${what}.` })

const makeFileClient = Effect.gen(function* () {
  const catalogue = yield* CatalogueClient
  const chunks = yield* ChunkClient
  const metadata = yield* MetadataClient
  const names = yield* makeFileNames
  const upload = yield* makeFileUpload

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

  /** Names that know of puts that did not end, or of chunks to free, in order of the names. */
  const listUnfinished = (prefix = ""): Stream.Stream<UnfinishedFile, CatalogueError> =>
    catalogue.walk(catalogue.tags.leftovers(prefix)).pipe(
      Stream.map(({ entry }) => {
        if (entry._tag !== "File" && entry._tag !== "DeletedFile") return []
        const name = entry._tag === "File" ? entry.file.name : entry.name
        const named = namedFileOf(name, entry)
        if (named === undefined) return []
        return [{ name, fileIds: named.leftovers, unfinished: unfinishedFiles(named) }]
      }),
      Stream.flattenIterable
    )

  /**
   * Deletes a file and all puts of its name that did not end: the name first, confirmed, then the
   * chunks. A name without either is not found, once nothing of it is left to free.
   */
  const remove = Effect.fnUntraced(function* (
    name: string
  ): Effect.fn.Return<void, CallFailed | FileNotFound | CatalogueRefused> {
    const named = yield* names.read(name)
    const [newest] = unfinishedFiles(named)
    if (named.file === undefined && newest === undefined) {
      yield* names.free(name, freeableFiles(named))
      return yield* notFound(name)
    }
    yield* names.send({ _tag: "Deleted", name, fileId: newest ?? named.settled })
  })

  /**
   * Gives up the puts of a name up to a file id and frees what they stored; without one frees only
   * what nothing refers to. The name's file stays; a put that ends all the same is refused.
   */
  const giveUp = Effect.fnUntraced(function* (
    name: string,
    fileId: number | undefined
  ): Effect.fn.Return<void, CallFailed | CatalogueRefused> {
    if (fileId !== undefined) return yield* names.send({ _tag: "GivenUp", name, fileId })
    yield* names.free(name, freeableFiles(yield* names.read(name)))
  })

  return { get, giveUp, list, listUnfinished, put: upload.put, remove, show }
})

/** Plain files as a program uses them. */
export class FileClient extends Context.Service<
  FileClient,
  Effect.Success<typeof makeFileClient>
>()("@holdfast/client/FileClient") {
  static readonly layer = Layer.effect(this, makeFileClient)
}
