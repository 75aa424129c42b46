/**
 * Chunks: written, written anew, read, freed, through the client.
 *
 * | invariant | what must hold |
 * |---|---|
 * | wrong-bytes | a read answers the bytes of the version asked for, or an error |
 * | acknowledged-lost | what was answered and not freed can be read in the end |
 * | freed-lives | what was freed is not found in the end, and no device holds it |
 * | file-reused | no file id is given out twice |
 */
import {
  type CallFailed,
  ChunkClient,
  crc32,
  MetadataClient,
  type WrittenChunk
} from "@holdfast/client"
import { type ChunkName, ChunkTransport } from "@holdfast/storage"
import { Clock, Effect, Random, Result, Stream } from "effect"
import { copiesOf } from "../oracle/chunk-history.ts"
import type { RandomSource } from "../random-source.ts"
import type { Report } from "../violation.ts"
import type { MakeWorkload, WorkloadOptions } from "./workload.ts"

type Chunk = WrittenChunk["chunk"]

interface Written {
  readonly chunk: Chunk
  readonly bytes: Uint8Array
  /** `freeing`: a free was sent, and may or may not have happened. */
  state: "kept" | "freeing" | "freed" | "replaced"
}

interface Book {
  readonly random: RandomSource
  readonly report: Report
  readonly written: Array<Written>
  readonly files: Set<number>
}

const goal = 2
const chunkBytesMax = 3_000
const pauseMillis = [100, 900] as const

const nameOf = ({ chunkId, fileId, version }: ChunkName): string =>
  `${fileId}/${chunkId}@${version}`

const drawBytes = (random: RandomSource): Uint8Array => {
  const bytes = new Uint8Array(random.integer(1, chunkBytesMax))
  const first = random.integer(0, 255)
  for (let index = 0; index < bytes.length; index += 1) bytes[index] = (first + index * 7) & 0xff
  return bytes
}

const kept = (book: Book): ReadonlyArray<Written> =>
  book.written.filter(({ state }) => state === "kept")

const write = Effect.fnUntraced(function* (book: Book, fileId: number) {
  const chunks = yield* ChunkClient
  const bytes = drawBytes(book.random)
  const checksum = crc32(bytes)
  const outcome = yield* Effect.result(
    chunks.write({ fileId, bytes, checksum, want: goal, min: book.random.integer(1, goal) })
  )
  if (Result.isFailure(outcome)) return
  book.written.push({ chunk: outcome.success.chunk, bytes, state: "kept" })
})

const versionsOf = (book: Book, { chunkId, fileId }: Chunk): ReadonlyArray<Written> =>
  book.written.filter(({ chunk }) => chunk.fileId === fileId && chunk.chunkId === chunkId)

/** Writes a chunk's next version, step by step, as the chunk client does for a first one. */
const writeNext = Effect.fnUntraced(function* (book: Book, { chunkId, fileId }: Chunk) {
  const metadata = yield* MetadataClient
  const transport = yield* ChunkTransport
  const bytes = drawBytes(book.random)
  const size = bytes.length
  const granted = yield* metadata.alloc({ fileId, chunkId, size, want: goal, min: 1, exclude: [] })
  const outcomes = yield* transport.write({
    chunk: granted.chunk,
    length: size,
    targets: granted.targets,
    data: Stream.make(bytes),
    deadline: "4 seconds"
  })
  const receipts = outcomes.flatMap((each) => (each._tag === "Stored" ? [each.receipt] : []))
  if (receipts.length === 0) {
    yield* metadata.abandon(granted.lease)
    return undefined
  }
  const chunk = { ...granted.chunk, length: size, checksum: crc32(bytes) }
  yield* metadata.publish({ lease: granted.lease, chunk, goal, min: 1, receipts })
  const written: Written = { chunk, bytes, state: "kept" }
  return written
})

/**
 * Writes a chunk anew, by one writer or by two at once. Of two the newer version is what is kept,
 * in whichever order they were committed; unless one of them cannot tell what became of it.
 */
const rewrite = Effect.fnUntraced(function* (book: Book, old: Written) {
  // From here on the old version may be replaced, whatever is answered.
  old.state = "replaced"
  const writers = book.random.chance(0.5) ? 1 : 2
  const outcomes = yield* Effect.all(
    Array.from({ length: writers }, () => Effect.result(writeNext(book, old.chunk))),
    { concurrency: "unbounded" }
  )
  if (outcomes.some((outcome) => Result.isFailure(outcome) && mayHaveHappened(outcome.failure))) {
    return
  }
  const newest = outcomes
    .flatMap((outcome) => (Result.isSuccess(outcome) && outcome.success ? [outcome.success] : []))
    .sort((one, other) => other.chunk.version - one.chunk.version)
    .at(0)
  if (newest === undefined) return
  for (const each of versionsOf(book, old.chunk)) each.state = "replaced"
  book.written.push(newest)
})

/** A refusal changed nothing; of anything else nobody knows. */
const mayHaveHappened = ({ code }: CallFailed): boolean => code !== "stale-version"

const check = Effect.fnUntraced(function* (book: Book, { bytes, chunk }: Written) {
  const chunks = yield* ChunkClient
  const range = { start: 0, end: Math.ceil(chunk.length / 2) }
  const isPart = yield* Effect.map(Random.next, (drawn) => drawn < 0.3)
  const read = yield* chunks.read(isPart ? { chunk, range } : { chunk })
  const wanted = isPart ? bytes.subarray(0, range.end) : bytes
  if (Buffer.compare(read, wanted) !== 0) {
    book.report("wrong-bytes", `a read of ${nameOf(chunk)} answered other bytes`)
  }
})

const free = Effect.fnUntraced(function* (one: Written) {
  const metadata = yield* MetadataClient
  one.state = "freeing"
  yield* metadata.free([one.chunk])
  one.state = "freed"
})

const step = Effect.fnUntraced(function* (book: Book, fileId: number) {
  const { random } = book
  const drawn = random.nextDoubleUnsafe()
  const one = random.pick(kept(book))
  if (one === undefined || drawn < 0.4) return yield* write(book, fileId)
  if (drawn < 0.7) return yield* check(book, one)
  if (drawn < 0.85) return yield* rewrite(book, one)
  return yield* free(one)
})

const createFile = Effect.fnUntraced(function* (book: Book) {
  const fileId = yield* (yield* MetadataClient).createFile()
  if (book.files.has(fileId)) book.report("file-reused", `file ${fileId} is given out twice`)
  book.files.add(fileId)
  return fileId
})

const program = Effect.fnUntraced(function* (book: Book, phaseMillis: number) {
  const clock = yield* Clock.Clock
  const end = clock.monotonicTimeNanosUnsafe() + BigInt(phaseMillis) * 1_000_000n
  let fileId: number | undefined
  while (clock.monotonicTimeNanosUnsafe() < end) {
    if (fileId === undefined || book.random.chance(0.1)) {
      fileId = yield* Effect.orElseSucceed(createFile(book), () => undefined)
    }
    if (fileId !== undefined) yield* Effect.ignore(step(book, fileId))
    yield* Effect.sleep(book.random.integer(...pauseMillis))
  }
})

const audit = Effect.fnUntraced(function* (book: Book, { cluster, history }: WorkloadOptions) {
  const metadata = yield* MetadataClient
  for (const one of book.written) {
    const name = nameOf(one.chunk)
    if (one.state === "kept") {
      const read = yield* Effect.result(check(book, one))
      if (Result.isFailure(read)) {
        book.report("acknowledged-lost", `${name} cannot be read: ${read.failure.message}`)
      }
    }
    if (one.state !== "freed") continue
    const found = yield* Effect.result(metadata.locate(one.chunk))
    const isFound = Result.isSuccess(found) && found.success.chunk.version <= one.chunk.version
    const copies = copiesOf(cluster, one.chunk).filter(
      ({ device }) => !cluster.site.retired.has(device)
    )
    if (isFound || copies.length > 0 || !history.isFreed(one.chunk)) {
      book.report("freed-lives", `${name} was freed; ${copies.length} copies are left`)
    }
  }
})

/** Makes the workload of chunks. */
export const chunks: MakeWorkload = (options) => {
  const book: Book = {
    random: options.random,
    report: options.cluster.site.report,
    written: [],
    files: new Set()
  }
  return {
    prepare: Effect.void,
    programs: options.cluster.clients.map(() => program(book, options.phaseMillis)),
    oracles: [],
    audit: audit(book, options)
  }
}
