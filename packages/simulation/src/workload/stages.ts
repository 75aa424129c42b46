/**
 * Stages: messages are published to streams, and workers work on every item of them, at least once.
 *
 * A message is one record, or an aggregate of user records; each falls apart into items. What the
 * worker accounts for, its parts, are the user records of an aggregate that is opened, else the
 * items of the record.
 */
import { Clock, Effect } from "effect"
import { stageLimits } from "../cluster/settings.ts"
import { itemCount, itemsMax } from "../cluster/stage-node.ts"
import type { WorkedItem } from "../cluster/watch.ts"
import { makeAcknowledgementOracle } from "../oracle/acknowledgements.ts"
import { type FinishedParts, makeCheckpointOracle } from "../oracle/checkpoints.ts"
import { makeInFlightOracle } from "../oracle/in-flight.ts"
import type { Oracle } from "../oracle/oracle.ts"
import { makeRepeatedWorkOracle } from "../oracle/repeated-work.ts"
import { drawMessage } from "./drawn-messages.ts"
import { type Publication, Publications } from "./publications.ts"
import { drawStreamShape, type StreamShape } from "./stream-shape.ts"
import type { MakeWorkload, WorkloadOptions } from "./workload.ts"

const streamNames: ReadonlyArray<string> = ["clicks", "jobs", "mails"]
const batchMax = 8

interface Book {
  readonly options: WorkloadOptions
  readonly shapes: ReadonlyMap<string, StreamShape>
  readonly published: Publications
  /** Items that are done, by shard. */
  readonly done: ReadonlyMap<string, Set<string>>
}

const itemKey = ({ index, part, position }: Omit<WorkedItem, "epoch" | "shard">): string =>
  `${position}/${part ?? "whole"}/${index}`

/** A message's parts as the worker accounts for them: for each, the items that it consists of. */
const partsOf = (
  position: bigint,
  { message, userRecords }: Publication
): ReadonlyArray<ReadonlyArray<string>> => {
  const itemsOf = (record: { readonly data: Uint8Array }, part: number | undefined) =>
    Array.from({ length: itemCount(record) }, (_, index) => itemKey({ position, part, index }))
  return userRecords === undefined
    ? itemsOf(message, undefined).map((item) => [item])
    : userRecords.map((record, part) => itemsOf(record, part))
}

const isQuiet = (book: Book, stream: string, elapsedMillis: number): boolean => {
  const { quietAfter = 1 } = book.shapes.get(stream) ?? {}
  return elapsedMillis > quietAfter * book.options.phaseMillis
}

const put = Effect.fnUntraced(function* (book: Book, stream: string, count: number) {
  const { cluster, random } = book.options
  const timestamp = yield* Clock.currentTimeNanos
  const { aggregates = 0, areOpened = false } = book.shapes.get(stream) ?? {}
  const messages = Array.from({ length: count }, () =>
    drawMessage(random, { timestamp, aggregates, areOpened })
  )
  const { first } = yield* cluster.site.streams.put(
    stream,
    messages.map(({ message }) => message)
  )
  book.published.add(stream, first, messages)
})

const program = Effect.fnUntraced(function* (book: Book) {
  const clock = yield* Clock.Clock
  const { cluster, phaseMillis, random } = book.options
  const begun = clock.monotonicTimeNanosUnsafe()
  for (;;) {
    const elapsedMillis = Number((clock.monotonicTimeNanosUnsafe() - begun) / 1_000_000n)
    if (elapsedMillis > phaseMillis) return
    const stream = random.pick(streamNames) ?? ""
    const drawn = random.nextDoubleUnsafe()
    if (drawn >= 0.95) {
      const { streams } = cluster.site
      yield* streams.purge(stream, yield* streams.acknowledged(stream))
    } else if (!isQuiet(book, stream, elapsedMillis)) {
      yield* put(book, stream, random.integer(1, batchMax))
    }
    yield* Effect.sleep(random.integer(30, 600))
  }
})

const prepare = Effect.fnUntraced(function* (book: Book) {
  for (const [name, { watermark }] of book.shapes) {
    if (watermark !== undefined) book.options.cluster.site.watermarks.set(name, watermark)
    yield* put(book, name, 1)
  }
})

/** Takes note of what is done. */
const noteDone = ({ done }: Book): Oracle => ({
  watch: { itemDone: (item) => done.get(item.shard)?.add(itemKey(item)) }
})

/** Makes the workload of stages. */
export const stages: MakeWorkload = (options) => {
  const { cluster, random } = options
  const book: Book = {
    options,
    shapes: new Map(
      streamNames.map((name) => [
        name,
        {
          ...drawStreamShape(random.split(`stream ${name}`), { pendingMax: [5, 60] }),
          areOpened: true
        }
      ])
    ),
    published: new Publications(),
    done: new Map(streamNames.map((name) => [name, new Set<string>()]))
  }
  const partsAt = (shard: string, position: bigint) => {
    const message = book.published.at(shard, position)
    return message === undefined ? [] : partsOf(position, message)
  }
  const finished = (shard: string): FinishedParts => {
    const done = book.done.get(shard)
    return (position, part) =>
      partsAt(shard, position)[part]?.every((item) => done?.has(item)) ?? false
  }
  const checkpoints = makeCheckpointOracle(cluster, {
    shards: streamNames,
    publications: book.published,
    partsAt: (shard, position) => partsAt(shard, position).length,
    finished
  })
  return {
    prepare: prepare(book),
    programs: cluster.clients.map(() => program(book)),
    oracles: [
      noteDone(book),
      checkpoints,
      makeRepeatedWorkOracle({
        report: cluster.site.report,
        claimsOf: checkpoints.claimsOf,
        partOf: ({ index, part }) => part ?? index
      }),
      makeAcknowledgementOracle(cluster),
      makeInFlightOracle(cluster, { ...stageLimits, learnedItems: itemsMax - 1 })
    ],
    audit: Effect.void
  }
}
