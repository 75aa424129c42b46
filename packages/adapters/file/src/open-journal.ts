/**
 * A journal's tables and what is known of them in memory.
 *
 * Appends have dense numbers. The next one stands in the table of heads and rises in the
 * transaction that uses it, so an append that damage has made disappear is missed, wherever it
 * stood.
 */
import { Effect, Semaphore } from "effect"
import type { Scope } from "effect"
import { numberKey, numberOfKey } from "./byte-keys.ts"
import { openEnvironment } from "./environment.ts"
import type { Environment, StoreOptions, Table } from "./environment.ts"
import { openValue, sealValue } from "./sealed-value.ts"
import { StoreRefused } from "./store-refused.ts"

/** The largest entry or snapshot part if nothing else is said. */
const ENTRY_BYTES_MAX = 16_777_216
/** Old items that one transaction removes. */
const SLICE_REMOVALS = 2_000

/** Where a journal is and how large an entry may be. */
export interface LmdbJournalOptions extends StoreOptions {
  /** The largest entry or snapshot part; 16 MiB if absent. */
  readonly entryBytesMax?: number
}

/** What counts: the parts of one generation, and every append from a number on. */
export interface Head {
  readonly generation: bigint
  readonly parts: bigint
  readonly firstAppend: bigint
}

/** How much an append holds. */
export interface AppendSize {
  readonly entries: number
  readonly bytes: number
}

/** An open journal. */
export interface OpenJournal {
  readonly environment: Environment
  readonly entryBytesMax: number
  readonly heads: Table
  readonly snapshots: Table
  readonly appends: Table
  readonly compacting: Semaphore.Semaphore
  head: Head
  /** Of each append since the snapshot, by its number. */
  readonly sizes: Map<bigint, AppendSize>
}

const HEAD_KEY = Buffer.from("head")
const NEXT_KEY = Buffer.from("next append")
const NO_HEAD: Head = { generation: 0n, parts: 0n, firstAppend: 0n }

/** A refusal that names what has a wrong checksum. */
export const corruptJournal = (environment: Environment, what: string): StoreRefused =>
  new StoreRefused({
    code: "corrupt",
    message: `The journal in ${environment.directory}: the checksum of ${what} is wrong.`
  })

/** Writes the head; the transaction that does so makes a snapshot count. */
export const writeHead = (table: Table, head: Head): void => {
  const numbers = [head.generation, head.parts, head.firstAppend]
  table.putSync(HEAD_KEY, sealValue(HEAD_KEY, Buffer.concat(numbers.map(numberKey))))
}

const readNumbers = (environment: Environment, table: Table, key: Buffer): Buffer | undefined => {
  const sealed = table.get(key)
  if (sealed === undefined) return undefined
  const value = openValue(key, sealed)
  if (value === undefined) throw corruptJournal(environment, `its ${key.toString()}`)
  return Buffer.from(value)
}

const readHead = (environment: Environment, table: Table): Head => {
  const numbers = readNumbers(environment, table, HEAD_KEY)
  if (numbers === undefined) return NO_HEAD
  const numberAt = (offset: number) => numbers.readBigUInt64BE(offset)
  return { generation: numberAt(0), parts: numberAt(8), firstAppend: numberAt(16) }
}

/** The number of the next append; inside a transaction, as it has made it. */
export const readNextAppend = ({ environment, heads }: OpenJournal): bigint =>
  readNumbers(environment, heads, NEXT_KEY)?.readBigUInt64BE(0) ?? 0n

/** Sets the number of the next append. */
export const writeNextAppend = ({ heads }: OpenJournal, next: bigint): void => {
  heads.putSync(NEXT_KEY, sealValue(NEXT_KEY, numberKey(next)))
}

/** An append's size by its frames' lengths alone; what is damaged is found when it is read. */
const sizeOfSealed = (sealed: Buffer): AppendSize => {
  let entries = 0
  let offset = 4
  while (offset + 4 <= sealed.length) {
    offset += 4 + sealed.readUInt32BE(offset)
    entries += 1
  }
  return { entries, bytes: Math.max(0, sealed.length - 4 - 4 * entries) }
}

const removeRange = Effect.fnUntraced(function* (
  { environment }: OpenJournal,
  table: Table,
  range: { readonly start?: Buffer; readonly end?: Buffer }
) {
  let removed = SLICE_REMOVALS
  while (removed === SLICE_REMOVALS) {
    removed = yield* environment.commit({
      bytes: 0,
      freesRoom: true,
      run: () => {
        const keys = [...table.getKeys({ ...range, limit: SLICE_REMOVALS })]
        for (const key of keys) table.removeSync(key)
        return keys.length
      }
    })
  }
})

/** Removes, in slices, what the head does not name: older and unfinished snapshots, old appends. */
export const removeForgotten = Effect.fnUntraced(function* (journal: OpenJournal) {
  const { firstAppend, generation } = journal.head
  yield* removeRange(journal, journal.snapshots, { end: numberKey(generation) })
  yield* removeRange(journal, journal.snapshots, { start: numberKey(generation + 1n) })
  yield* removeRange(journal, journal.appends, { end: numberKey(firstAppend) })
})

/** Opens the tables, removes what does not count and measures what does. */
export const openJournal = Effect.fnUntraced(function* (
  options: LmdbJournalOptions
): Effect.fn.Return<OpenJournal, StoreRefused, Scope.Scope> {
  const environment = yield* openEnvironment({ ...options, kind: "journal" })
  const compacting = yield* Semaphore.make(1)
  const journal = yield* environment.read((): OpenJournal => {
    const heads = environment.table("head")
    const appends = environment.table("appends")
    const head = readHead(environment, heads)
    return {
      environment,
      entryBytesMax: options.entryBytesMax ?? ENTRY_BYTES_MAX,
      heads,
      snapshots: environment.table("snapshot"),
      appends,
      compacting,
      head,
      sizes: new Map()
    }
  })
  yield* removeForgotten(journal)
  yield* environment.read(() => {
    for (const { key, value } of journal.appends.getRange({})) {
      journal.sizes.set(numberOfKey(key), sizeOfSealed(value))
    }
  })
  return journal
})
