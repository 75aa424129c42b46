/**
 * Archives: records are published to streams, workers archive them, clients read them back.
 *
 * | invariant | what must hold |
 * |---|---|
 * | read-wrong | whatever a read answers at any time was published, once, in order, byte for byte |
 * | read-incomplete | in the end a read answers everything that was published |
 * | verify | in the end `verify` finds nothing but what a crash may leave, and repair removes that |
 */
import { ArchiveClient } from "@holdfast/client"
import type { NewRecord } from "@holdfast/records"
import type { SegmentRecord } from "@holdfast/segment"
import { Clock, Effect, Result, Stream } from "effect"
import { makeCheckpointOracle } from "../oracle/checkpoints.ts"
import type { RandomSource } from "../random-source.ts"
import type { MakeWorkload, WorkloadOptions } from "./workload.ts"

/** The archives; each is a stream and its one shard, too. */
export const archiveNames: ReadonlyArray<string> = ["orders", "events"]

const recordBytesMax = 300
const batchMax = 12
const encoder = new TextEncoder()

interface Book {
  readonly options: WorkloadOptions
  readonly random: RandomSource
  /** What was published to each stream; the streams themselves forget what was acknowledged. */
  readonly published: ReadonlyMap<string, Map<bigint, NewRecord>>
}

const settings = {
  segments: { bytes: 4_096, records: 25, ageMs: 2_000 },
  goal: 2
}

const drawRecord = (random: RandomSource, timestamp: bigint): NewRecord => {
  const data = new Uint8Array(random.integer(0, recordBytesMax))
  for (let index = 0; index < data.length; index += 1) data[index] = random.integer(0, 255)
  const name = encoder.encode("trace")
  const value = encoder.encode(String(random.integer(0, 1_000_000)))
  return {
    timestamp,
    subject: encoder.encode(`subject.${random.integer(0, 4)}`),
    headers: random.chance(0.3) ? [[name, value]] : [],
    data
  }
}

const put = Effect.fnUntraced(function* (book: Book, stream: string, count: number) {
  const timestamp = yield* Clock.currentTimeNanos
  const records = Array.from({ length: count }, () => drawRecord(book.random, timestamp))
  const { first } = yield* book.options.cluster.site.streams.put(stream, records)
  for (const [index, record] of records.entries()) {
    book.published.get(stream)?.set(first + BigInt(index), record)
  }
})

/** A stream forgets what its archive has acknowledged, as a work queue does. */
const forget = Effect.fnUntraced(function* (book: Book, stream: string) {
  const { streams } = book.options.cluster.site
  yield* streams.purge(stream, yield* streams.acknowledged(stream))
})

const isEqual = (left: Uint8Array, right: Uint8Array): boolean => Buffer.compare(left, right) === 0

const isSame = (published: NewRecord, read: SegmentRecord): boolean =>
  published.timestamp === read.timestamp &&
  isEqual(published.subject, read.subject) &&
  isEqual(published.data, read.data) &&
  published.headers.length === read.headers.length &&
  published.headers.every(([name, value], index) => {
    const [readName, readValue] = read.headers[index] ?? [name, new Uint8Array(0)]
    return isEqual(name, readName) && isEqual(value, readValue)
  })

/** Reads an archive and judges each record; answers how many there were. */
const readBack = Effect.fnUntraced(function* ({ options, published }: Book, archive: string) {
  const { report } = options.cluster.site
  const archives = yield* ArchiveClient
  const known = published.get(archive) ?? new Map<bigint, NewRecord>()
  let last = 0n
  let count = 0
  yield* Stream.runForEach(archives.read({ archive }), ({ record }) =>
    Effect.sync(() => {
      const original = known.get(record.position)
      const where = `${archive}: record ${record.position} after ${last}`
      if (record.position <= last) report("read-wrong", `${where} is out of order or twice`)
      if (original === undefined || !isSame(original, record)) {
        report("read-wrong", `${where} is not what was published`)
      }
      last = record.position
      count += 1
    })
  )
  return { count, published: known.size }
})

const program = Effect.fnUntraced(function* (book: Book) {
  const clock = yield* Clock.Clock
  const { random } = book
  const end = clock.monotonicTimeNanosUnsafe() + BigInt(book.options.phaseMillis) * 1_000_000n
  while (clock.monotonicTimeNanosUnsafe() < end) {
    const archive = random.pick(archiveNames) ?? ""
    const drawn = random.nextDoubleUnsafe()
    if (drawn < 0.8) yield* put(book, archive, random.integer(1, batchMax))
    else if (drawn < 0.95) yield* Effect.ignore(readBack(book, archive))
    else yield* forget(book, archive)
    yield* Effect.sleep(random.integer(50, 700))
  }
})

const prepare = Effect.fnUntraced(function* (book: Book) {
  const archives = yield* ArchiveClient
  for (const name of archiveNames) {
    yield* archives.add({ name, stream: name, settings })
    yield* put(book, name, 1)
  }
})

const verify = Effect.fnUntraced(function* ({ options }: Book, archive: string) {
  const archives = yield* ArchiveClient
  // What a worker that died left behind is an orphan; repair adopts or frees it.
  yield* archives.verify({ archive, repair: true })
  const { findings } = yield* archives.verify({ archive, everyCopy: true })
  for (const finding of findings) {
    const words = JSON.stringify(finding, (_, value: unknown) =>
      typeof value === "bigint" ? String(value) : value
    )
    options.cluster.site.report("verify", `${archive}: ${words}`)
  }
})

const audit = Effect.fnUntraced(function* (book: Book) {
  const { report } = book.options.cluster.site
  for (const archive of archiveNames) {
    const read = yield* Effect.result(readBack(book, archive))
    if (Result.isFailure(read)) {
      report("read-incomplete", `${archive}: ${read.failure.message}`)
      continue
    }
    const { count, published } = read.success
    if (count !== published) {
      report("read-incomplete", `${archive}: ${count} of ${published} records are read`)
    }
    yield* verify(book, archive)
  }
})

/** Makes the workload of archives. */
export const archive: MakeWorkload = (options) => {
  const published = new Map(archiveNames.map((name) => [name, new Map<bigint, NewRecord>()]))
  const book: Book = { options, random: options.random, published }
  return {
    prepare: prepare(book),
    programs: options.cluster.clients.map(() => program(book)),
    oracles: [makeCheckpointOracle(options.cluster, options.history, archiveNames)],
    audit: audit(book)
  }
}
