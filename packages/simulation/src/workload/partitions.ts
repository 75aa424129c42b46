/**
 * Partitions: words written to ledgers with request ids, by several clients, and searched.
 *
 * | invariant | what must hold |
 * |---|---|
 * | confirmed-not-durable | a write is on the disks of a majority of its owners when it is confirmed |
 * | confirmed-lost | a confirmed write is in the final state of each owner |
 * | written-twice | no write, confirmed or not, is in a final state twice |
 * | search-incomplete | it finds every write that was confirmed 5 s before, or names its range as missing |
 * | search-order | the pages of a search are in order, without repeats |
 * | search-wrong | in the end a search answers what a sorted scan of all partitions does |
 */
import { type FoundRecord, type IndexCursor, type IndexPage, PeerClient } from "@holdfast/client"
import { keyFromBigInt } from "@holdfast/keyspace"
import { makeRequestId } from "@holdfast/wire"
import { Clock, Effect, Option, Result, Schedule, Schema, Stream } from "effect"
import { durableReplicas, everySavedReplica, ownersIn } from "../oracle/replicas.ts"
import type { RandomSource } from "../random-source.ts"
import { anyTag, ledgerName } from "./ledger.ts"
import type { MakeWorkload, WorkloadOptions } from "./workload.ts"

interface Write {
  readonly key: string
  readonly word: string
  readonly requestId: string
  /** In microseconds; infinite while it is not. */
  confirmedAt: number
}

const isOpen = ({ confirmedAt }: Write): boolean => confirmedAt === Infinity

interface Book {
  readonly options: WorkloadOptions
  readonly random: RandomSource
  readonly keys: Array<string>
  readonly writes: Array<Write>
}

const partitionsMax = 6
/** Written to once, before anything fails: only what moves keys brings them to new owners. */
const quietPartitions = 8
/** Created one by one, at any moment: also while their keys move, and by several at once. */
const freshPartitionsMax = 40
const freshShare = 0.25
const pageRecords = 3
/** A write is confirmed by a majority; the others of its owners have it so much later at most. */
const spreadMillisMax = 5_000
const golden = 0x9e3779b97f4a7c15f39cc0605cedc834n

/** Spreads small numbers over the key space. */
const keyOf = (number: number): string => keyFromBigInt((BigInt(number) * golden) << 128n)

const decodeWords = Schema.decodeUnknownSync(Schema.Array(Schema.String))

const wordsOf = (state: unknown): ReadonlyArray<string> =>
  state === null ? [] : decodeWords(state)

/** Sends a write, or one that was not confirmed once more, under its own request id. */
const send = Effect.fnUntraced(function* (book: Book, write: Write) {
  const peers = yield* PeerClient
  const { key, requestId, word } = write
  const request = { application: ledgerName, key, events: [word], requestId }
  yield* peers.request({ ...request, writeConcern: "majority" })
  const { cluster } = book.options
  const owners = ownersIn(cluster, key)
  const holders = everySavedReplica(cluster).filter(
    (held) =>
      held.application === ledgerName &&
      held.key === key &&
      wordsOf(held.replica.projected()).includes(word)
  )
  if (holders.length <= owners.length / 2) {
    const count = `${holders.length} of ${owners.length}`
    cluster.site.report("confirmed-not-durable", `${word} is on the disks of ${count} owners`)
  }
  write.confirmedAt = cluster.site.time.nowMicros
})

const write = Effect.fnUntraced(function* (book: Book, key: string) {
  const requestId = yield* makeRequestId
  const word = `w${book.writes.length}`
  const made: Write = { key, word, requestId, confirmedAt: Infinity }
  book.writes.push(made)
  yield* send(book, made)
})

const compareFound = (left: FoundRecord, right: FoundRecord): number =>
  Buffer.compare(left.tag, right.tag) || (left.key < right.key ? -1 : left.key > right.key ? 1 : 0)

/** How many writes of each partition were confirmed a while ago. */
const confirmedSizes = ({ options, writes }: Book): ReadonlyMap<string, number> => {
  const sizes = new Map<string, number>()
  const before = options.cluster.site.time.nowMicros - spreadMillisMax * 1_000
  for (const { confirmedAt, key } of writes) {
    if (confirmedAt < before) sizes.set(key, (sizes.get(key) ?? 0) + 1)
  }
  return sizes
}

const search = Effect.fnUntraced(function* (book: Book) {
  const { report } = book.options.cluster.site
  const peers = yield* PeerClient
  // One tag that all have: a record that moves on between two pages could be met by neither.
  const range = { application: ledgerName, from: anyTag, upTo: anyTag, withState: true }
  const confirmed = confirmedSizes(book)
  const records: Array<FoundRecord> = []
  const missing: Array<readonly [string, string]> = []
  let after: Option.Option<IndexCursor> = Option.none()
  do {
    const page: IndexPage = yield* peers.page(range, after, pageRecords)
    records.push(...page.records)
    missing.push(...page.missing)
    after = page.next
  } while (Option.isSome(after))
  for (const [index, record] of records.entries()) {
    const before = records[index - 1]
    if (before === undefined || compareFound(before, record) < 0) continue
    report("search-order", `${record.key} after ${before.key}`)
  }
  for (const [key, size] of confirmed) {
    if (missing.some(([from, to]) => from <= key && key <= to)) continue
    const found = records.find((record) => record.key === key)
    const words = wordsOf(found?.state ?? null).length
    if (words >= size) continue
    report("search-incomplete", `${key.slice(0, 8)} had ${size} confirmed, ${words} are found`)
  }
})

/** The key of the next write: now and then one that nobody wrote to yet. */
const nextKey = ({ keys, random }: Book): string => {
  const isFresh = random.nextDoubleUnsafe() < freshShare
  if (isFresh && keys.length < partitionsMax + freshPartitionsMax) {
    keys.push(keyOf(partitionsMax + quietPartitions + keys.length + 1))
    return keys.at(-1) ?? ""
  }
  return random.pick(keys) ?? ""
}

/** Several clients create it at once, each by whichever peer it asks. */
const writeTwice = (book: Book, key: string) =>
  Effect.forEach([key, key], (each) => Effect.ignore(write(book, each)), {
    concurrency: "unbounded",
    discard: true
  })

const step = (book: Book) => {
  const drawn = book.random.nextDoubleUnsafe()
  const key = nextKey(book)
  if (drawn < 0.1) return writeTwice(book, key)
  if (drawn < 0.75) return write(book, key)
  if (drawn < 0.85) return search(book)
  const unconfirmed = book.random.pick(book.writes.filter(isOpen))
  return unconfirmed === undefined ? write(book, key) : send(book, unconfirmed)
}

const program = Effect.fnUntraced(function* (book: Book) {
  const clock = yield* Clock.Clock
  const end = clock.monotonicTimeNanosUnsafe() + BigInt(book.options.phaseMillis) * 1_000_000n
  while (clock.monotonicTimeNanosUnsafe() < end) {
    yield* Effect.ignore(step(book))
    yield* Effect.sleep(book.random.integer(20, 500))
  }
})

const judgeStates = (book: Book): void => {
  const { cluster } = book.options
  const held = durableReplicas(cluster).filter(({ application }) => application === ledgerName)
  for (const { key, peer, replica } of held) {
    const counts = new Map<string, number>()
    for (const word of wordsOf(replica.projected())) {
      counts.set(word, (counts.get(word) ?? 0) + 1)
    }
    for (const made of book.writes) {
      const { key: of, word } = made
      const count = counts.get(word) ?? 0
      const where = `${word} of ${key.slice(0, 8)} is ${count} times at ${peer}`
      if (of !== key) continue
      if (count > 1) cluster.site.report("written-twice", where)
      if (count === 0 && !isOpen(made)) cluster.site.report("confirmed-lost", where)
    }
  }
}

const audit = Effect.fnUntraced(function* (book: Book) {
  const { cluster } = book.options
  judgeStates(book)
  const peers = yield* PeerClient
  const range = { application: ledgerName, from: anyTag, upTo: anyTag, withState: true }
  // A peer that came back may answer for its ranges only a while later.
  const found = yield* Effect.result(
    Effect.retry(Stream.runCollect(peers.walk(range)), {
      schedule: Schedule.spaced("1 second"),
      times: 60
    })
  )
  if (Result.isFailure(found)) {
    return cluster.site.report("search-wrong", `it fails: ${found.failure.message}`)
  }
  const states = new Map<string, string>()
  for (const { application, key, replica } of durableReplicas(cluster)) {
    const words = application === ledgerName ? wordsOf(replica.projected()) : []
    if (words.length > 0) states.set(key, words.join(" "))
  }
  const scanned = [...states].sort(([left], [right]) => (left < right ? -1 : 1))
  const searched = found.success.map(
    ({ key, state }) => [key, wordsOf(state ?? null).join(" ")] as const
  )
  if (JSON.stringify(scanned) !== JSON.stringify(searched)) {
    const counts = `${searched.length} partitions, a scan ${scanned.length}`
    cluster.site.report("search-wrong", `a search answers ${counts}, or other states`)
  }
})

/** Makes the workload of partitions. */
export const partitions: MakeWorkload = (options) => {
  const all = Array.from({ length: partitionsMax + quietPartitions }, (_, at) => keyOf(at + 1))
  const keys = all.slice(0, partitionsMax)
  const book: Book = { options, random: options.random, keys, writes: [] }
  return {
    prepare: Effect.forEach(all.slice(partitionsMax), (key) => write(book, key), { discard: true }),
    programs: options.cluster.clients.map(() => program(book)),
    oracles: [],
    audit: audit(book)
  }
}
