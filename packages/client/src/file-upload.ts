/**
 * A plain file into the cluster.
 *
 *     a put of the name that did not end? ── no, or of other bytes ─▶ a new file id, Begun
 *        └─ yes: its file id, and its chunks where the source has the same bytes
 *     pieces ─▶ kept: read back and compared │ others: written ─▶ Stored
 *
 * 1. A chunk that is kept was read back, and has the bytes of its piece; nothing is written twice.
 * 2. The digest is of the bytes of the source, all of them, whatever was stored before.
 * 3. Of several puts of one name at a time none harms another: to go on frees nothing, and each
 *    attempt has a rank of its own, by which one of them stays.
 */
import { FileEntry, fileChunksMax, type SegmentChunk, unfinishedFiles } from "@holdfast/catalogue"
import { createHash } from "node:crypto"
import { Clock, Effect, Option, Result, Schema, Stream } from "effect"
import { ChunkClient } from "./chunk-client.ts"
import {
  type CallFailed,
  type CatalogueRefused,
  type ChunkUnwritten,
  InvalidRequest
} from "./errors.ts"
import { makeFileNames } from "./file-names.ts"
import { intoPieces } from "./file-pieces.ts"
import { MetadataClient } from "./metadata-client.ts"
import { crc32 } from "./platform.ts"
import { type KeptChunks, matchStored } from "./unfinished-put.ts"

/** A file to store. */
export interface PutFileOptions<E> {
  readonly name: string
  readonly data: Stream.Stream<Uint8Array, E>
  /** Copies of each chunk, 2 if nothing is said. */
  readonly goal?: number | undefined
  /** Bytes of a chunk, 32 MiB if nothing is said. */
  readonly chunkBytes?: number | undefined
  /**
   * Goes on with a put of this name that did not end, which runs `data` once more, up to where that
   * one came: true if nothing is said, false for data that can be read once only.
   */
  readonly resume?: boolean | undefined
}

/** A stored file, and what became of earlier puts of its name that did not end. */
export interface StoredFile {
  readonly file: FileEntry
  /** How many of its chunks were there before, from a put that it went on with. */
  readonly keptChunks: number
  /** How many it could not go on with: what they stored is freed. */
  readonly replacedPuts: number
}

/**
 * Why a file was not stored. What was stored of it stays for the next put of the name, until
 * `remove`, or until it is given up as nobody went on with it.
 */
export type PutFileError = CallFailed | ChunkUnwritten | CatalogueRefused | InvalidRequest

/** Where a put writes its chunks, and those that are there already. */
interface Upload {
  readonly fileId: number
  /** Absent for the put that began the file id. */
  readonly attempt?: number | undefined
  readonly kept: KeptChunks
}

const chunkBytesDefault = 32 * 1024 * 1024
const writesAtATime = 2
const codesOfLostChunks = new Set(["missing", "corrupt", "no-such-chunk"])
const decodeEntry = Schema.decodeUnknownResult(Schema.toType(FileEntry))

/** Puts files. */
export const makeFileUpload = Effect.gen(function* () {
  const chunks = yield* ChunkClient
  const metadata = yield* MetadataClient
  const names = yield* makeFileNames

  const piecesOf = <E>({ chunkBytes = chunkBytesDefault, data }: PutFileOptions<E>) =>
    intoPieces(data, chunkBytes)

  /** A put that did not end, if what it stored is of these bytes. */
  const goOnWith = Effect.fnUntraced(function* <E>(
    fileId: number | undefined,
    options: PutFileOptions<E>
  ) {
    const { goal = 2, resume = true } = options
    if (!resume || fileId === undefined) return Option.none<Upload>()
    const stored = yield* Stream.runCollect(metadata.listChunks(fileId))
    const kept = yield* matchStored({ pieces: piecesOf(options), stored, goal })
    if (Option.isNone(kept)) return Option.none<Upload>()
    const attempt = yield* metadata.createFile()
    return Option.some<Upload>({ fileId, attempt, kept: kept.value })
  })

  const begin = Effect.fnUntraced(function* (name: string) {
    const fileId = yield* metadata.createFile()
    yield* names.send({ _tag: "Begun", name, fileId })
    return { fileId, kept: new Map() } satisfies Upload
  })

  /** Whether a chunk that is there can be read, and has the bytes of a piece. */
  const holds = (chunk: SegmentChunk, piece: Uint8Array): Effect.Effect<boolean, CallFailed> =>
    chunks.read({ chunk }).pipe(
      Effect.map((bytes) => Buffer.compare(bytes, piece) === 0),
      Effect.catch((error) =>
        error._tag === "ChunkUnreadable" || codesOfLostChunks.has(error.code)
          ? Effect.as(Effect.logWarning(`a stored chunk is written anew: ${error.message}`), false)
          : Effect.fail(error)
      )
    )

  const putChunks = Effect.fnUntraced(function* <E>(upload: Upload, options: PutFileOptions<E>) {
    const { goal = 2 } = options
    const { fileId, kept } = upload
    const hash = createHash("sha256")
    let [bytes, keptChunks] = [0, 0]
    const write = (piece: Uint8Array) =>
      Effect.map(
        chunks.write({ fileId, bytes: piece, checksum: crc32(piece), want: goal, min: goal }),
        ({ chunk }) => chunk.chunkId
      )
    const store = Effect.fnUntraced(function* (piece: Uint8Array, at: number) {
      const chunk = kept.get(at)
      if (chunk === undefined || !(yield* holds(chunk, piece))) return yield* write(piece)
      keptChunks += 1
      return chunk.chunkId
    })
    const ids = yield* piecesOf(options).pipe(
      Stream.tap((piece) =>
        Effect.sync(() => {
          hash.update(piece)
          bytes += piece.length
        })
      ),
      Stream.mapEffect(store, { concurrency: writesAtATime }),
      Stream.take(fileChunksMax + 1),
      Stream.runCollect
    )
    if (ids.length > fileChunksMax) {
      const message = `A file has at most ${fileChunksMax} chunks: choose larger chunks.`
      return yield* new InvalidRequest({ message })
    }
    return { keptChunks, stored: { bytes, chunks: ids, digest: new Uint8Array(hash.digest()) } }
  })

  /** Stores a file; it is there under its name when this answers. */
  const put = Effect.fnUntraced(function* <E>(
    options: PutFileOptions<E>
  ): Effect.fn.Return<StoredFile, E | PutFileError> {
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
    const unfinished = unfinishedFiles(yield* names.read(name))
    const found = yield* goOnWith(unfinished[0], options)
    const upload: Upload = Option.isSome(found) ? found.value : yield* begin(name)
    const { attempt, fileId } = upload
    const { keptChunks, stored } = yield* putChunks(upload, options)
    const rank = attempt === undefined ? {} : { attempt }
    const file: FileEntry = { ...checked.success, ...stored, ...rank, fileId }
    yield* names.send({ _tag: "Stored", file })
    const replacedPuts = unfinished.filter((each) => each !== fileId).length
    return { file, keptChunks, replacedPuts }
  })

  return { put }
})
