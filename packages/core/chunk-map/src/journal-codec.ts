/**
 * Journal entries as bytes, format version 1.
 *
 * ```
 *   record   version u8 | count u32 | count entries | CRC-32 of everything before it u32
 *   entry    tag u8 | fields          ids and versions f64, other numbers u32, all big-endian
 *   text     length u8 | ASCII
 * ```
 * A device that is known is written as one of two entries, with its host or without.
 * A record holds as many entries as were appended together, up to about 64 KiB. The CRC is computed
 * by a function that is passed in. Damage is an error, never a skipped entry.
 */
import * as Result from "effect/Result"
import { ByteReader, ByteWriter } from "./bytes.ts"
import { DeviceId, HostId, type ChunkVersion } from "./identity.ts"
import type { JournalEntry } from "./journal-entry.ts"
import type { DesiredMode } from "./model.ts"

/** The CRC-32 of some bytes, as an unsigned number. */
export type Crc32 = (bytes: Uint8Array) => number

/** A journal record that cannot be read. */
export interface JournalDamage {
  readonly _tag: "JournalDamage"
  readonly message: string
}

const FORMAT = 1
const RECORD_BYTES = 64 * 1024
const tags = {
  Marks: 1,
  Committed: 2,
  Freed: 3,
  Settled: 4,
  DeviceKnown: 5,
  Quarantined: 6,
  Released: 7,
  FileMark: 8,
  DeviceForgotten: 10
} as const
const DEVICE_AT_HOST = 9
const modes: ReadonlyArray<DesiredMode> = ["normal", "frozen", "draining", "removed"]

const writeVersion = (writer: ByteWriter, copy: ChunkVersion): void => {
  writer.float64(copy.fileId)
  writer.uint32(copy.chunkId)
  writer.float64(copy.version)
}

const readVersion = (reader: ByteReader): ChunkVersion => ({
  fileId: reader.float64(),
  chunkId: reader.uint32(),
  version: reader.float64()
})

const writeCopies = (writer: ByteWriter, copies: ReadonlyArray<ChunkVersion>): void => {
  writer.uint32(copies.length)
  for (const copy of copies) writeVersion(writer, copy)
}

const readCopies = (reader: ByteReader): Array<ChunkVersion> => {
  const count = reader.uint32()
  const copies: Array<ChunkVersion> = []
  for (let index = 0; index < count && !reader.failed; index++) copies.push(readVersion(reader))
  return copies
}

const tagOf = (entry: JournalEntry): number =>
  entry._tag === "DeviceKnown" && entry.hostId !== null ? DEVICE_AT_HOST : tags[entry._tag]

const writeEntry = (writer: ByteWriter, entry: JournalEntry): void => {
  writer.uint8(tagOf(entry))
  switch (entry._tag) {
    case "Marks":
      writer.float64(entry.fileIdLimit)
      writer.float64(entry.versionLimit)
      return
    case "Committed":
      writeVersion(writer, entry)
      writer.uint8(entry.goal)
      writer.uint32(entry.length)
      writer.uint32(entry.checksum)
      return
    case "Freed":
    case "Settled":
      writeVersion(writer, entry)
      return
    case "DeviceKnown":
      writer.text(entry.deviceId)
      writer.float64(entry.epoch)
      writer.uint8(modes.indexOf(entry.desired))
      if (entry.hostId !== null) writer.text(entry.hostId)
      return
    case "DeviceForgotten":
      writer.text(entry.deviceId)
      return
    case "Quarantined":
      writer.text(entry.deviceId)
      writer.float64(entry.ageMs)
      writeCopies(writer, entry.copies)
      return
    case "Released":
      writer.text(entry.deviceId)
      writeCopies(writer, entry.copies)
      return
    case "FileMark":
      writer.float64(entry.fileId)
      writer.float64(entry.next)
  }
}

const readDevice = (reader: ByteReader): DeviceId | undefined => {
  const text = reader.text()
  return DeviceId.makeOption(text)._tag === "Some" ? DeviceId.make(text) : undefined
}

const readHost = (reader: ByteReader): HostId | undefined => {
  const text = reader.text()
  return HostId.makeOption(text)._tag === "Some" ? HostId.make(text) : undefined
}

const readDeviceKnown = (reader: ByteReader, tag: number): JournalEntry | undefined => {
  const deviceId = readDevice(reader)
  const epoch = reader.float64()
  const desired = modes[reader.uint8()]
  const hostId = tag === DEVICE_AT_HOST ? readHost(reader) : null
  if (deviceId === undefined || desired === undefined || hostId === undefined) return undefined
  return { _tag: "DeviceKnown", deviceId, epoch, desired, hostId }
}

const readEntry = (reader: ByteReader): JournalEntry | undefined => {
  const tag = reader.uint8()
  if (tag === tags.Marks) {
    return { _tag: "Marks", fileIdLimit: reader.float64(), versionLimit: reader.float64() }
  }
  if (tag === tags.Committed) {
    const named = readVersion(reader)
    const goal = reader.uint8()
    return { _tag: "Committed", ...named, goal, length: reader.uint32(), checksum: reader.uint32() }
  }
  if (tag === tags.Freed) return { _tag: "Freed", ...readVersion(reader) }
  if (tag === tags.Settled) return { _tag: "Settled", ...readVersion(reader) }
  if (tag === tags.DeviceKnown || tag === DEVICE_AT_HOST) return readDeviceKnown(reader, tag)
  if (tag === tags.DeviceForgotten) {
    const deviceId = readDevice(reader)
    return deviceId === undefined ? undefined : { _tag: "DeviceForgotten", deviceId }
  }
  if (tag === tags.Quarantined || tag === tags.Released) {
    const deviceId = readDevice(reader)
    if (deviceId === undefined) return undefined
    if (tag === tags.Released) return { _tag: "Released", deviceId, copies: readCopies(reader) }
    const ageMs = reader.float64()
    return { _tag: "Quarantined", deviceId, ageMs, copies: readCopies(reader) }
  }
  if (tag === tags.FileMark) {
    return { _tag: "FileMark", fileId: reader.float64(), next: reader.float64() }
  }
  return undefined
}

/** Encodes entries into records of about 64 KiB at most, in order. */
export function* encodeJournal(
  entries: Iterable<JournalEntry>,
  crc32: Crc32
): Generator<Uint8Array> {
  let writer = begin()
  let count = 0
  for (const entry of entries) {
    writeEntry(writer, entry)
    count++
    if (writer.length >= RECORD_BYTES) {
      yield finish(writer, count, crc32)
      writer = begin()
      count = 0
    }
  }
  if (count > 0) yield finish(writer, count, crc32)
}

const begin = (): ByteWriter => {
  const writer = new ByteWriter()
  writer.uint8(FORMAT)
  writer.uint32(0)
  return writer
}

const finish = (writer: ByteWriter, count: number, crc32: Crc32): Uint8Array => {
  writer.setUint32(1, count)
  writer.uint32(crc32(writer.bytes()))
  return writer.bytes()
}

const damage = (message: string): Result.Result<never, JournalDamage> =>
  Result.fail({ _tag: "JournalDamage", message })

/** Decodes one record. */
export const decodeJournal = (
  record: Uint8Array,
  crc32: Crc32
): Result.Result<ReadonlyArray<JournalEntry>, JournalDamage> => {
  if (record.length < 9) return damage(`a record of ${record.length} bytes is too short`)
  const body = record.subarray(0, record.length - 4)
  const expected = new ByteReader(record.subarray(record.length - 4)).uint32()
  if (crc32(body) >>> 0 !== expected) return damage("the checksum of a record is wrong")
  const reader = new ByteReader(body)
  const format = reader.uint8()
  if (format !== FORMAT)
    return damage(`format ${format} is not known; this version reads ${FORMAT}`)
  const count = reader.uint32()
  const entries: Array<JournalEntry> = []
  for (let index = 0; index < count; index++) {
    const entry = readEntry(reader)
    if (entry === undefined || reader.failed) return damage(`entry ${index} of a record is unknown`)
    entries.push(entry)
  }
  return reader.atEnd ? Result.succeed(entries) : damage("a record is longer than its entries")
}
