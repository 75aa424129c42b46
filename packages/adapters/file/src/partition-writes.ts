/**
 * The writes of one commit inside its transaction: the state, the tags that came and went, and the
 * counts of each application change together or not at all.
 */
import type { FactWrite, PartitionWrite } from "@holdfast/storage"
import { Option } from "effect"
import type { Environment, Table } from "./environment.ts"
import { endOfName } from "./byte-keys.ts"
import {
  decodePartition,
  digitsOf,
  encodePartition,
  partitionKey,
  tagKey
} from "./partition-keys.ts"
import { openValue, sealValue } from "./sealed-value.ts"

/** Values kept of partitions whose checksum was wrong when they were written over. */
const QUARANTINE_MAX = 1_000
const PRESENT = Buffer.of(1)

/** The tables of a partition store. */
export interface PartitionTables {
  readonly partitions: Table
  readonly tags: Table
  readonly facts: Table
  readonly sizes: Table
  readonly quarantine: Table
}

/** Opens the tables. */
export const partitionTables = ({ table }: Environment): PartitionTables => ({
  partitions: table("partitions"),
  tags: table("tags"),
  facts: table("facts"),
  sizes: table("sizes"),
  quarantine: table("quarantine")
})

/** How many partitions an application has, and the bytes of their values. */
export interface ApplicationSize {
  readonly partitions: number
  readonly bytes: number
}

/** The table key of a fact. */
export const factKey = (name: string): Buffer => Buffer.from(name, "utf8")

/** The counts of an application. */
export const readSize = (tables: PartitionTables, key: Buffer): ApplicationSize => {
  const sealed = tables.sizes.get(key)
  const value = sealed === undefined ? undefined : openValue(key, sealed)
  if (value === undefined) return { partitions: 0, bytes: 0 }
  const bytes = Buffer.from(value)
  return { partitions: Number(bytes.readBigUInt64BE(0)), bytes: Number(bytes.readBigUInt64BE(8)) }
}

const changeSize = (
  tables: PartitionTables,
  application: string,
  change: ApplicationSize
): void => {
  const key = Buffer.from(application, "utf8")
  const size = readSize(tables, key)
  const value = Buffer.allocUnsafe(16)
  value.writeBigUInt64BE(BigInt(Math.max(0, size.partitions + change.partitions)), 0)
  value.writeBigUInt64BE(BigInt(Math.max(0, size.bytes + change.bytes)), 8)
  tables.sizes.putSync(key, sealValue(key, value))
}

const keepInQuarantine = (tables: PartitionTables, key: Buffer, sealed: Buffer): void => {
  if (tables.quarantine.getKeysCount({}) < QUARANTINE_MAX) tables.quarantine.putSync(key, sealed)
}

/** Index records of a partition whose own list of tags cannot be read: all are looked through. */
const tagKeysOfDamaged = (tables: PartitionTables, { application, key }: PartitionWrite) => {
  const start = Buffer.concat([Buffer.from(application, "utf8"), Buffer.of(0)])
  const keys = tables.tags.getKeys({ start, end: endOfName(application) })
  return [...keys].filter((tableKey) => digitsOf(tableKey) === key)
}

/** The index records that a partition has now, by their table keys as text. */
const oldTagKeys = (
  tables: PartitionTables,
  write: PartitionWrite,
  tableKey: Buffer,
  sealed: Buffer | undefined
): ReadonlyArray<Buffer> => {
  if (sealed === undefined) return []
  const value = openValue(tableKey, sealed)
  if (value === undefined) {
    keepInQuarantine(tables, tableKey, sealed)
    return tagKeysOfDamaged(tables, write)
  }
  return decodePartition(value).tags.map((tag) => tagKey(write.application, tag, write.key))
}

/** How the counts of each application change in one commit. */
type SizeChanges = Map<string, { partitions: number; bytes: number }>

const noteChange = (changes: SizeChanges, application: string, change: ApplicationSize): void => {
  const noted = changes.get(application) ?? { partitions: 0, bytes: 0 }
  noted.partitions += change.partitions
  noted.bytes += change.bytes
  changes.set(application, noted)
}

const writePartition = (
  tables: PartitionTables,
  write: PartitionWrite,
  changes: SizeChanges
): void => {
  const { application, key, state } = write
  const tableKey = partitionKey(application, key)
  const old = tables.partitions.get(tableKey)
  const tags = new Map<string, Uint8Array>()
  if (Option.isSome(state)) {
    for (const tag of write.tags) {
      tags.set(tagKey(application, tag, key).toString("latin1"), tag)
    }
  }
  const isNew = new Set(tags.keys())
  for (const record of oldTagKeys(tables, write, tableKey, old)) {
    if (!isNew.delete(record.toString("latin1"))) tables.tags.removeSync(record)
  }
  for (const record of isNew) tables.tags.putSync(Buffer.from(record, "latin1"), PRESENT)
  if (Option.isNone(state)) {
    if (old === undefined) return
    tables.partitions.removeSync(tableKey)
    return noteChange(changes, application, { partitions: -1, bytes: -old.length })
  }
  const value = encodePartition({ tags: [...tags.values()], state: state.value })
  const sealed = sealValue(tableKey, value)
  tables.partitions.putSync(tableKey, sealed)
  noteChange(changes, application, {
    partitions: old === undefined ? 1 : 0,
    bytes: sealed.length - (old?.length ?? 0)
  })
}

/** Carries out a commit; call it inside a transaction. */
export const writeAll = (
  tables: PartitionTables,
  commit: {
    readonly partitions: ReadonlyArray<PartitionWrite>
    readonly facts: ReadonlyArray<FactWrite>
  }
): void => {
  const changes: SizeChanges = new Map()
  for (const write of commit.partitions) writePartition(tables, write, changes)
  for (const [application, change] of changes) changeSize(tables, application, change)
  for (const { name, value } of commit.facts) {
    const key = factKey(name)
    tables.facts.putSync(key, sealValue(key, value))
  }
}
