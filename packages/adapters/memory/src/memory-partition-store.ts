/**
 * The PartitionStore port on a memory disk: a cell for each partition, its state and tags framed
 * together, so that both change in one write; a cell for each fact.
 *
 *     p/<application>/<key>    f/<name>
 *
 * The order of partitions and tags is kept in memory and built from the cells when it is opened.
 */
import {
  type PartitionAddress,
  PartitionStore,
  PartitionStoreError,
  type PartitionWrite,
  type StoredPartition
} from "@holdfast/storage"
import { Effect, Layer, Option, type Scope, Semaphore } from "effect"
import { type CellWrite, isIntact, sortedKeys } from "./cells.ts"
import { joinFrames, splitFrames } from "./frames.ts"
import type { DiskRefusal, FileHold, MemoryDisk } from "./memory-disk.ts"
import { makePartitionIndex, type PartitionIndex } from "./partition-index.ts"

/** Where a store stands and how large a partition may be. */
export interface MemoryPartitionStoreOptions {
  /** The file's name on the disk; `partitions` when absent. */
  readonly file?: string
  /** The largest state; 64 MiB when absent. */
  readonly stateBytesMax?: number
}

interface OpenStore {
  readonly hold: FileHold
  readonly stateBytesMax: number
  readonly applications: Map<string, PartitionIndex>
}

const keyDigits = 64

const cellKeyOf = ({ application, key }: PartitionAddress): string => `p/${application}/${key}`

const addressOf = (cellKey: string): PartitionAddress => ({
  application: cellKey.slice(2, -keyDigits - 1),
  key: cellKey.slice(-keyDigits)
})

const asStoreError = ({ code, message }: DiskRefusal): PartitionStoreError =>
  new PartitionStoreError({ code, message })

const indexOf = (store: OpenStore, application: string): PartitionIndex => {
  const known = store.applications.get(application)
  if (known !== undefined) return known
  const index = makePartitionIndex()
  store.applications.set(application, index)
  return index
}

const openStore = Effect.fnUntraced(function* (
  disk: MemoryDisk,
  options: MemoryPartitionStoreOptions
): Effect.fn.Return<OpenStore, DiskRefusal, Scope.Scope> {
  const hold = yield* disk.hold(options.file ?? "partitions")
  yield* hold.readable
  const store: OpenStore = {
    hold,
    stateBytesMax: options.stateBytesMax ?? 67_108_864,
    applications: new Map()
  }
  for (const cellKey of sortedKeys(hold.cells, "p/")) {
    const cell = hold.cells.get(cellKey)
    if (cell === undefined) continue
    const { application, key } = addressOf(cellKey)
    const [, ...tags] = isIntact(cell) ? splitFrames(cell.bytes) : []
    indexOf(store, application).set(key, cell.bytes.length, tags)
  }
  return store
})

const readPartition = (
  { hold }: OpenStore,
  address: PartitionAddress
): Option.Option<StoredPartition> => {
  const { key } = address
  const cell = hold.cells.get(cellKeyOf(address))
  if (cell === undefined) return Option.none()
  const [state] = isIntact(cell) ? splitFrames(cell.bytes) : []
  return Option.some(
    state === undefined
      ? { _tag: "Corrupt", key, reason: "the checksum is wrong" }
      : { _tag: "Intact", key, state }
  )
}

const reading = <A>(store: OpenStore, read: () => A): Effect.Effect<A, PartitionStoreError> =>
  Effect.map(Effect.mapError(store.hold.readable, asStoreError), read)

const cellWrite = (write: PartitionWrite): CellWrite => [
  cellKeyOf(write),
  Option.match(write.state, {
    onNone: () => undefined,
    onSome: (state) => joinFrames([state, ...write.tags])
  })
]

const indexWrite = (store: OpenStore, write: PartitionWrite): void => {
  const index = indexOf(store, write.application)
  const cell = store.hold.cells.get(cellKeyOf(write))
  if (cell === undefined) index.remove(write.key)
  else index.set(write.key, cell.bytes.length, Option.isSome(write.state) ? write.tags : [])
}

const tooLarge = (store: OpenStore, partitions: ReadonlyArray<PartitionWrite>) => {
  const large = partitions.find(
    ({ state }) => Option.isSome(state) && state.value.length > store.stateBytesMax
  )
  if (large === undefined) return Effect.void
  const message = `the state of ${large.key} is over the limit of ${store.stateBytesMax} bytes`
  return Effect.fail(new PartitionStoreError({ code: "too-large", message }))
}

const commit = (store: OpenStore, turn: Semaphore.Semaphore): PartitionStore["Service"]["commit"] =>
  Effect.fnUntraced(function* ({ partitions, facts }) {
    yield* tooLarge(store, partitions)
    // The last write of a partition decides, as in any transaction.
    const latest = new Map(partitions.map((write) => [cellKeyOf(write), write] as const))
    const writes = [...latest.values()]
    const factCells = facts.map(({ name, value }): CellWrite => [`f/${name}`, value])
    const cells = [...new Map([...writes.map(cellWrite), ...factCells])]
    yield* store.hold.write(cells).pipe(
      Effect.mapError(asStoreError),
      Effect.tap(() => Effect.sync(() => writes.forEach((write) => indexWrite(store, write)))),
      Effect.uninterruptible,
      turn.withPermits(1)
    )
  })

const makeService = (store: OpenStore, turn: Semaphore.Semaphore): PartitionStore["Service"] => ({
  load: (address) => reading(store, () => readPartition(store, address)),
  commit: commit(store, turn),
  scan: ({ application, after, ranges, limit }) =>
    reading(store, () =>
      indexOf(store, application)
        .keysAfter({ after, ranges, limit })
        .flatMap((key) => Option.toArray(readPartition(store, { application, key })))
    ),
  page: ({ application, ...options }) =>
    reading(store, () => indexOf(store, application).page(options)),
  fact: (name) =>
    Effect.flatMap(Effect.mapError(store.hold.readable, asStoreError), () => {
      const cell = store.hold.cells.get(`f/${name}`)
      if (cell === undefined) return Effect.succeed(Option.none())
      if (isIntact(cell)) return Effect.succeed(Option.some(cell.bytes.slice()))
      const message = `the checksum of the fact ${name} is wrong`
      return Effect.fail(new PartitionStoreError({ code: "corrupt", message }))
    }),
  size: reading(store, () =>
    [...store.applications]
      .map(([application, index]) => ({ application, ...index.size() }))
      .filter(({ partitions }) => partitions > 0)
  )
})

/** A PartitionStore on a disk; opening it a second time at once is `locked`. */
export const memoryPartitionStore = (
  disk: MemoryDisk,
  options: MemoryPartitionStoreOptions = {}
): Layer.Layer<PartitionStore, PartitionStoreError> =>
  Layer.effect(
    PartitionStore,
    Effect.gen(function* () {
      const store = yield* Effect.mapError(openStore(disk, options), asStoreError)
      return makeService(store, yield* Semaphore.make(1))
    })
  )
