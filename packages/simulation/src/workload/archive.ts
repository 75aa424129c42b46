/**
 * Archives: records are published to streams, workers archive them, clients read them back.
 *
 * | invariant | what must hold |
 * |---|---|
 * | read-wrong | whatever a read answers at any time was published, once, in order, byte for byte |
 * | read-incomplete | in the end a read answers everything that was published |
 * | verify | in the end `verify` finds nothing but what a crash may leave, and repair removes that |
 */
import { ArchiveClient, type Finding } from "@holdfast/client"
import type { NewRecord } from "@holdfast/records"
import type { SegmentRecord } from "@holdfast/segment"
import { Clock, Effect, Result, Stream } from "effect"
import { workerLimits } from "../cluster/settings.ts"
import { makeAcknowledgementOracle } from "../oracle/acknowledgements.ts"
import { makeCheckpointOracle } from "../oracle/checkpoints.ts"
import { durableRecords } from "../oracle/durable-archive.ts"
import { makeInFlightOracle } from "../oracle/in-flight.ts"
import type { RandomSource } from "../random-source.ts"
import { drawMessage } from "./drawn-messages.ts"
import { Publications, recordsOf } from "./publications.ts"
import { drawStreamShape, type StreamShape } from "./stream-shape.ts"
import type { MakeWorkload, WorkloadOptions } from "./workload.ts"

/** The archives; each is a stream and its one shard, too. */
export const archiveNames: ReadonlyArray<string> = ["orders", "events"]

const batchMax = 12

interface Book {
  readonly options: WorkloadOptions
  readonly random: RandomSource
  readonly shapes: ReadonlyMap<string, StreamShape>
  readonly published: Publications
}

const settings = {
  segments: { bytes: 4_096, records: 25, ageMs: 2_000 },
  goal: 2
}

const shapeOf = ({ shapes }: Book, stream: string): StreamShape => {
  const shape = shapes.get(stream)
  if (shape === undefined) throw new Error(`there is no archive ${stream}`)
  return shape
}

const put = Effect.fnUntraced(function* (book: Book, stream: string, count: number) {
  const timestamp = yield* Clock.currentTimeNanos
  const { aggregates, areOpened } = shapeOf(book, stream)
  const messages = Array.from({ length: count }, () =>
    drawMessage(book.random, { timestamp, aggregates, areOpened })
  )
  const { streams } = book.options.cluster.site
  const { first } = yield* streams.put(
    stream,
    messages.map(({ message }) => message)
  )
  book.published.add(stream, first, messages)
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
  const known = published
    .above(archive, 0n)
    .reduce((sum, [, message]) => sum + recordsOf(message).length, 0)
  let last = { position: 0n, part: 0 }
  let count = 0
  yield* Stream.runForEach(archives.read({ archive }), ({ record }) =>
    Effect.sync(() => {
      const { part, position } = record
      const message = published.at(archive, position)
      const original = message && recordsOf(message)[part]
      const where = `${archive}: part ${part} of record ${position}`
      const isNext = position > last.position || (position === last.position && part > last.part)
      if (!isNext) report("read-wrong", `${where} is out of order or twice`)
      if (original === undefined || !isSame(original, record)) {
        report("read-wrong", `${where} is not what was published`)
      }
      last = { position, part }
      count += 1
    })
  )
  return { count, published: known }
})

const program = Effect.fnUntraced(function* (book: Book) {
  const clock = yield* Clock.Clock
  const { random } = book
  const { phaseMillis } = book.options
  const begun = clock.monotonicTimeNanosUnsafe()
  for (;;) {
    const elapsed = Number(clock.monotonicTimeNanosUnsafe() - begun) / 1_000_000 / phaseMillis
    if (elapsed >= 1) return
    const archive = random.pick(archiveNames) ?? ""
    const isQuiet = elapsed > shapeOf(book, archive).quietAfter
    const drawn = random.nextDoubleUnsafe()
    if (drawn >= 0.95) yield* forget(book, archive)
    else if (drawn >= 0.8) yield* Effect.ignore(readBack(book, archive))
    else if (!isQuiet) yield* put(book, archive, random.integer(1, batchMax))
    yield* Effect.sleep(random.integer(50, 700))
  }
})

const prepare = Effect.fnUntraced(function* (book: Book) {
  const archives = yield* ArchiveClient
  for (const name of archiveNames) {
    const { areOpened, watermark } = shapeOf(book, name)
    if (watermark !== undefined) book.options.cluster.site.watermarks.set(name, watermark)
    yield* archives.add({
      name,
      stream: name,
      settings,
      aggregation: areOpened ? "kpl" : "none",
      acknowledgement: watermark === undefined ? "none" : "watermark"
    })
    yield* put(book, name, 1)
  }
})

/** A gap is as it should be where no message has a record: aggregates may be empty. */
const isHarmless = ({ published }: Book, archive: string, finding: Finding): boolean =>
  finding._tag === "Gap" &&
  published
    .above(archive, finding.from - 1n)
    .every(([position, message]) => position > finding.to || recordsOf(message).length === 0)

const verify = Effect.fnUntraced(function* (book: Book, archive: string) {
  const archives = yield* ArchiveClient
  // What a worker that died left behind is an orphan; repair adopts or frees it.
  yield* archives.verify({ archive, repair: true })
  const { findings } = yield* archives.verify({ archive, everyCopy: true })
  for (const finding of findings) {
    if (isHarmless(book, archive, finding)) continue
    const words = JSON.stringify(finding, (_, value: unknown) =>
      typeof value === "bigint" ? String(value) : value
    )
    book.options.cluster.site.report("verify", `${archive}: ${words}`)
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
  const { cluster, history, random } = options
  const shapes = new Map(
    archiveNames.map((name) => [
      name,
      drawStreamShape(random.split(`stream ${name}`), { pendingMax: [30, 300] })
    ])
  )
  const published = new Publications()
  const book: Book = { options, random, shapes, published }
  const partsAt = (shard: string, position: bigint): number => {
    const message = published.at(shard, position)
    return message === undefined ? 0 : recordsOf(message).length
  }
  const finished = durableRecords(cluster, history)
  return {
    prepare: prepare(book),
    programs: cluster.clients.map(() => program(book)),
    oracles: [
      makeCheckpointOracle(cluster, {
        shards: archiveNames,
        publications: published,
        partsAt,
        finished
      }),
      makeAcknowledgementOracle(cluster),
      makeInFlightOracle(cluster, { ...workerLimits, learnedItems: 0 })
    ],
    audit: audit(book)
  }
}
