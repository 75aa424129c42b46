/** One application's partitions in key order and its index records in (tag, key) order. */
import type { KeyRange, TagRecord } from "@holdfast/storage"
import { Option } from "effect"
import { compareBytes, lowerBound } from "./byte-order.ts"

interface Entry {
  readonly bytes: number
  readonly tags: ReadonlyArray<Uint8Array>
}

/** The order that a store keeps beside its cells; a change costs O(n), a search O(log n). */
export interface PartitionIndex {
  readonly set: (key: string, bytes: number, tags: ReadonlyArray<Uint8Array>) => void
  readonly remove: (key: string) => void
  readonly keysAfter: (options: {
    readonly after: Option.Option<string>
    readonly ranges: ReadonlyArray<KeyRange>
    readonly limit: number
  }) => ReadonlyArray<string>
  readonly page: (options: {
    readonly after: Option.Option<TagRecord>
    readonly upTo: Option.Option<Uint8Array>
    readonly ranges: ReadonlyArray<KeyRange>
    readonly limit: number
  }) => ReadonlyArray<TagRecord>
  readonly size: () => { readonly partitions: number; readonly bytes: number }
}

const compareRecords = (left: TagRecord, right: TagRecord): number => {
  const byTag = compareBytes(left.tag, right.tag)
  if (byTag !== 0) return byTag
  return left.key < right.key ? -1 : left.key > right.key ? 1 : 0
}

const isInside = (ranges: ReadonlyArray<KeyRange>, key: string): boolean =>
  ranges.some(([from, to]) => from <= key && key <= to)

const distinctTags = (tags: ReadonlyArray<Uint8Array>): ReadonlyArray<Uint8Array> =>
  tags
    .toSorted(compareBytes)
    .filter((tag, index, all) => index === 0 || compareBytes(tag, all[index - 1] ?? tag) !== 0)
    .map((tag) => tag.slice())

interface IndexState {
  readonly keys: Array<string>
  readonly records: Array<TagRecord>
  readonly entries: Map<string, Entry>
  bytes: number
}

const placeOfKey = ({ keys }: IndexState, key: string): number =>
  lowerBound(keys, (each) => each < key)

const placeOfRecord = ({ records }: IndexState, record: TagRecord): number =>
  lowerBound(records, (each) => compareRecords(each, record) < 0)

const removeEntry = (state: IndexState, key: string): void => {
  const entry = state.entries.get(key)
  if (entry === undefined) return
  state.entries.delete(key)
  state.bytes -= entry.bytes
  state.keys.splice(placeOfKey(state, key), 1)
  for (const tag of entry.tags) state.records.splice(placeOfRecord(state, { tag, key }), 1)
}

const addEntry = (state: IndexState, key: string, entry: Entry): void => {
  state.entries.set(key, entry)
  state.bytes += entry.bytes
  state.keys.splice(placeOfKey(state, key), 0, key)
  for (const tag of entry.tags) {
    const record = { tag, key }
    state.records.splice(placeOfRecord(state, record), 0, record)
  }
}

const keysAfter =
  ({ keys }: IndexState): PartitionIndex["keysAfter"] =>
  ({ after, ranges, limit }) => {
    const found: Array<string> = []
    const from = Option.match(after, {
      onNone: () => 0,
      onSome: (last) => lowerBound(keys, (each) => each <= last)
    })
    for (let at = from; at < keys.length && found.length < limit; at += 1) {
      const key = keys[at]
      if (key !== undefined && isInside(ranges, key)) found.push(key)
    }
    return found
  }

const page =
  ({ records }: IndexState): PartitionIndex["page"] =>
  ({ after, upTo, ranges, limit }) => {
    const found: Array<TagRecord> = []
    const from = Option.match(after, {
      onNone: () => 0,
      onSome: (last) => lowerBound(records, (each) => compareRecords(each, last) <= 0)
    })
    for (let at = from; at < records.length && found.length < limit; at += 1) {
      const record = records[at]
      if (record === undefined) break
      if (Option.isSome(upTo) && compareBytes(record.tag, upTo.value) > 0) break
      if (isInside(ranges, record.key)) found.push({ tag: record.tag.slice(), key: record.key })
    }
    return found
  }

/** Makes an empty index. */
export const makePartitionIndex = (): PartitionIndex => {
  const state: IndexState = { keys: [], records: [], entries: new Map(), bytes: 0 }
  return {
    set: (key, bytes, tags) => {
      removeEntry(state, key)
      addEntry(state, key, { bytes, tags: distinctTags(tags) })
    },
    remove: (key) => removeEntry(state, key),
    keysAfter: keysAfter(state),
    page: page(state),
    size: () => ({ partitions: state.entries.size, bytes: state.bytes })
  }
}
