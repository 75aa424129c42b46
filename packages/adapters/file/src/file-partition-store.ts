/**
 * The PartitionStore port on LMDB.
 *
 * 1. A commit is one transaction with one sync; commits of one turn of the event loop share it.
 * 2. A partition's value lists its tags, so a write knows which index records to remove.
 * 3. A value with a wrong checksum is `Corrupt`; the write that mends it keeps the old bytes in the
 *    table `quarantine`, the first 1,000 of them.
 * 4. A page or a scan looks at a bounded number of items at a time and lets other fibers run.
 */
import { PartitionStore, PartitionStoreError } from "@holdfast/storage"
import type {
  FactWrite,
  KeyRange,
  PartitionWrite,
  StoredPartition,
  TagRecord
} from "@holdfast/storage"
import { Effect, Layer, Option } from "effect"
import { keyAfter } from "./byte-keys.ts"
import { openEnvironment } from "./environment.ts"
import type { Environment, StoreOptions } from "./environment.ts"
import {
  decodePartition,
  digitsOf,
  endOfTags,
  partitionKey,
  tagKey,
  tagRecordOf
} from "./partition-keys.ts"
import { factKey, partitionTables, readSize, writeAll } from "./partition-writes.ts"
import type { PartitionTables } from "./partition-writes.ts"
import { openValue } from "./sealed-value.ts"
import { StoreRefused } from "./store-refused.ts"

/** The largest state if nothing else is said. */
const STATE_BYTES_MAX = 67_108_864
/** The longest name of an application or a fact. */
const NAME_BYTES_MAX = 255
/** The longest tag. */
const TAG_BYTES_MAX = 512
/** The most tags of one partition. */
const TAGS_MAX = 65_535
/** Bytes that an item costs beside its own. */
const ITEM_BYTES = 128
/** Items looked at before other fibers run. */
const LOOK_AT = 4_096

/** Where a partition store is and how large a partition may be. */
export interface FilePartitionStoreOptions extends StoreOptions {
  /** The largest state; 64 MiB if absent. */
  readonly stateBytesMax?: number
}

interface OpenStore {
  readonly environment: Environment
  readonly tables: PartitionTables
  readonly stateBytesMax: number
}

type Service = PartitionStore["Service"]

const asStoreError = ({ code, message }: StoreRefused): PartitionStoreError =>
  new PartitionStoreError({ code: code === "foreign" ? "corrupt" : code, message })

const storedPartition = (tableKey: Buffer, sealed: Buffer): StoredPartition => {
  const key = digitsOf(tableKey)
  const value = openValue(tableKey, sealed)
  return value === undefined
    ? { _tag: "Corrupt", key, reason: "the checksum is wrong" }
    : { _tag: "Intact", key, state: decodePartition(value).state }
}

const tooLarge = (message: string) => new StoreRefused({ code: "too-large", message })

const isNameFit = (name: string): boolean =>
  name.length > 0 && !name.includes("\0") && Buffer.byteLength(name) <= NAME_BYTES_MAX

/** Why a write cannot be stored, if it cannot. */
const refusalOfWrite = (store: OpenStore, write: PartitionWrite): StoreRefused | undefined => {
  const { application, key, state, tags } = write
  if (!isNameFit(application)) {
    return tooLarge(`An application's name has 1 to ${NAME_BYTES_MAX} bytes and no zero byte.`)
  }
  if (!/^[0-9a-f]{64}$/.test(key)) return tooLarge(`"${key}" is not 64 lower-case hex digits.`)
  if (Option.isSome(state) && state.value.length > store.stateBytesMax) {
    return tooLarge(`The state of ${key} is over the limit of ${store.stateBytesMax} bytes.`)
  }
  if (tags.length > TAGS_MAX || tags.some((tag) => tag.length > TAG_BYTES_MAX)) {
    return tooLarge(
      `Partition ${key} has over ${TAGS_MAX} tags or one over ${TAG_BYTES_MAX} bytes.`
    )
  }
  return undefined
}

const bytesOf = (write: PartitionWrite): number =>
  Option.match(write.state, { onNone: () => 0, onSome: (state) => state.length + ITEM_BYTES }) +
  write.tags.reduce((sum, tag) => sum + 2 * tag.length + ITEM_BYTES, 0)

const commit = Effect.fnUntraced(function* (
  store: OpenStore,
  writes: {
    readonly partitions: ReadonlyArray<PartitionWrite>
    readonly facts: ReadonlyArray<FactWrite>
  }
): Effect.fn.Return<void, StoreRefused> {
  const { facts, partitions } = writes
  for (const write of partitions) {
    const refusal = refusalOfWrite(store, write)
    if (refusal !== undefined) return yield* refusal
  }
  if (facts.some(({ name }) => !isNameFit(name))) {
    return yield* tooLarge(`A fact's name has 1 to ${NAME_BYTES_MAX} bytes and no zero byte.`)
  }
  const bytes =
    partitions.reduce((sum, write) => sum + bytesOf(write), 0) +
    facts.reduce((sum, { value }) => sum + value.length + ITEM_BYTES, 0)
  const freesRoom = facts.length === 0 && partitions.every(({ state }) => Option.isNone(state))
  yield* store.environment.commit({ bytes, freesRoom, run: () => writeAll(store.tables, writes) })
})

const scan = Effect.fnUntraced(function* (
  store: OpenStore,
  options: Parameters<Service["scan"]>[0]
): Effect.fn.Return<ReadonlyArray<StoredPartition>, StoreRefused> {
  const { after, application, limit, ranges } = options
  const found: Array<StoredPartition> = []
  const floor = Option.map(after, (key) => keyAfter(partitionKey(application, key)))
  for (const [from, to] of ranges.toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    const first = partitionKey(application, from)
    const start = Option.isSome(floor) && floor.value.compare(first) > 0 ? floor.value : first
    const end = keyAfter(partitionKey(application, to))
    if (found.length >= limit) break
    if (start.compare(end) >= 0) continue
    const more = yield* store.environment.read(() =>
      Array.from(
        store.tables.partitions.getRange({ start, end, limit: limit - found.length }),
        ({ key, value }) => storedPartition(key, value)
      )
    )
    found.push(...more)
  }
  return found
})

const isInside = (ranges: ReadonlyArray<KeyRange>, key: string): boolean =>
  ranges.some(([from, to]) => from <= key && key <= to)

const page = Effect.fnUntraced(function* (
  store: OpenStore,
  options: Parameters<Service["page"]>[0]
): Effect.fn.Return<ReadonlyArray<TagRecord>, StoreRefused> {
  const { after, application, limit, ranges, upTo } = options
  const found: Array<TagRecord> = []
  const end = endOfTags(application, Option.getOrUndefined(upTo))
  let start = Option.match(after, {
    onNone: () => partitionKey(application, ""),
    onSome: ({ key, tag }) => keyAfter(tagKey(application, tag, key))
  })
  let wanted = limit
  while (found.length < limit && ranges.length > 0 && start.compare(end) < 0) {
    const from = start
    wanted = Math.min(LOOK_AT, wanted)
    const keys = yield* store.environment.read(() => [
      ...store.tables.tags.getKeys({ start: from, end, limit: wanted })
    ])
    for (const key of keys) {
      if (found.length < limit && isInside(ranges, digitsOf(key))) found.push(tagRecordOf(key))
    }
    const last = keys.at(-1)
    if (last === undefined || keys.length < wanted) break
    start = keyAfter(last)
    // Few of them were inside the ranges: look at more at a time.
    wanted *= 2
    yield* Effect.yieldNow
  }
  return found
})

const fact = (store: OpenStore, name: string) =>
  Effect.flatMap(
    store.environment.read(() => store.tables.facts.get(factKey(name))),
    (sealed): Effect.Effect<Option.Option<Uint8Array>, StoreRefused> => {
      if (sealed === undefined) return Effect.succeed(Option.none())
      const value = openValue(factKey(name), sealed)
      if (value !== undefined) return Effect.succeed(Option.some(new Uint8Array(value)))
      const message = `${store.environment.directory}: the checksum of the fact ${name} is wrong.`
      return Effect.fail(new StoreRefused({ code: "corrupt", message }))
    }
  )

const load = (store: OpenStore, { application, key }: Parameters<Service["load"]>[0]) => {
  const tableKey = partitionKey(application, key)
  return store.environment.read(() =>
    Option.map(Option.fromUndefinedOr(store.tables.partitions.get(tableKey)), (sealed) =>
      storedPartition(tableKey, sealed)
    )
  )
}

const size = ({ environment, tables }: OpenStore) =>
  environment.read(() =>
    [...tables.sizes.getKeys({})]
      .map((key) => ({ application: key.toString("utf8"), ...readSize(tables, key) }))
      .filter(({ partitions }) => partitions > 0)
  )

const service = (store: OpenStore): Service => ({
  load: (address) => Effect.mapError(load(store, address), asStoreError),
  commit: (writes) => Effect.mapError(commit(store, writes), asStoreError),
  scan: (options) => Effect.mapError(scan(store, options), asStoreError),
  page: (options) => Effect.mapError(page(store, options), asStoreError),
  fact: (name) => Effect.mapError(fact(store, name), asStoreError),
  size: Effect.mapError(size(store), asStoreError)
})

/** A PartitionStore in a directory, held by this process until the scope closes. */
export const filePartitionStore = (
  options: FilePartitionStoreOptions
): Layer.Layer<PartitionStore, PartitionStoreError> =>
  Layer.effect(
    PartitionStore,
    Effect.gen(function* () {
      const environment = yield* openEnvironment({ ...options, kind: "partitions" })
      const tables = yield* environment.read(() => partitionTables(environment))
      const stateBytesMax = options.stateBytesMax ?? STATE_BYTES_MAX
      return service({ environment, tables, stateBytesMax })
    }).pipe(Effect.mapError(asStoreError))
  )
