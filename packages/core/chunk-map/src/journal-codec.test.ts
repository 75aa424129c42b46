import { readFileSync } from "node:fs"
import { crc32 } from "node:zlib"
import fc from "fast-check"
import * as Result from "effect/Result"
import { describe, expect, it } from "vitest"
import { DeviceId, HostId } from "./identity.ts"
import { decodeJournal, encodeJournal } from "./journal-codec.ts"
import type { JournalEntry } from "./journal-entry.ts"

const deviceId = DeviceId.make("disk-1_A")
const copies = [
  { fileId: 1, chunkId: 0, version: 9 },
  { fileId: 2 ** 48 - 1, chunkId: 2 ** 32 - 1, version: 2 ** 48 - 1 }
]
const everyEntry: ReadonlyArray<JournalEntry> = [
  { _tag: "Marks", fileIdLimit: 65_537, versionLimit: 2 ** 40 },
  { _tag: "Committed", ...copies[1]!, goal: 15, length: 2 ** 32 - 1, checksum: 2 ** 32 - 1 },
  { _tag: "Committed", ...copies[0]!, goal: 1, length: 0, checksum: 0 },
  { _tag: "Freed", ...copies[0]! },
  { _tag: "Settled", ...copies[0]! },
  { _tag: "DeviceKnown", deviceId, epoch: 12, desired: "normal", hostId: null },
  { _tag: "DeviceKnown", deviceId, epoch: 13, desired: "frozen", hostId: null },
  { _tag: "DeviceKnown", deviceId, epoch: 14, desired: "draining", hostId: null },
  { _tag: "DeviceKnown", deviceId, epoch: 15, desired: "removed", hostId: null },
  { _tag: "Quarantined", deviceId, ageMs: 1_234, copies: [...copies] },
  { _tag: "Released", deviceId, copies: [...copies] },
  { _tag: "FileMark", fileId: 3, next: 2 ** 32 }
]

/** What later versions of format 1 added. */
const laterEntries: ReadonlyArray<JournalEntry> = [
  { _tag: "DeviceKnown", deviceId, epoch: 16, desired: "normal", hostId: HostId.make("host-1") },
  { _tag: "DeviceForgotten", deviceId }
]

const golden = (name: string): Uint8Array => {
  const hex = readFileSync(new URL(name, import.meta.url), "utf8")
  return Uint8Array.from(Buffer.from(hex.replaceAll(/\s/g, ""), "hex"))
}

const decodeAll = (records: Iterable<Uint8Array>): ReadonlyArray<JournalEntry> => {
  const entries: Array<JournalEntry> = []
  for (const record of records) {
    const decoded = decodeJournal(record, crc32)
    if (Result.isFailure(decoded)) throw new Error(decoded.failure.message)
    entries.push(...decoded.success)
  }
  return entries
}

const damageOf = (record: Uint8Array): string => {
  const decoded = decodeJournal(record, crc32)
  return Result.isFailure(decoded) ? decoded.failure.message : "no damage"
}

describe("journal codec", () => {
  it("reads what it wrote", () => {
    const all = [...everyEntry, ...laterEntries]
    expect(decodeAll(encodeJournal(all, crc32))).toEqual(all)
    expect([...encodeJournal([], crc32)]).toEqual([])
  })

  it("golden: format 1 stays readable", () => {
    const records: ReadonlyArray<readonly [string, ReadonlyArray<JournalEntry>]> = [
      ["journal-format-1.golden.txt", everyEntry],
      ["journal-format-1-later.golden.txt", laterEntries]
    ]
    for (const [name, entries] of records) {
      expect(decodeAll([golden(name)])).toEqual(entries)
      expect([...encodeJournal(entries, crc32)]).toEqual([golden(name)])
    }
  })

  it("splits into records of about 64 KiB and keeps the order", () => {
    const many = Array.from({ length: 10_000 }, (_one, index) => ({
      _tag: "Freed" as const,
      fileId: 1,
      chunkId: index,
      version: index + 1
    }))
    const records = [...encodeJournal(many, crc32)]
    expect(records.length).toBeGreaterThan(2)
    expect(Math.max(...records.map((record) => record.length))).toBeLessThan(66_000)
    expect(decodeAll(records)).toEqual(many)
  })

  it("metadata-T8: a flipped bit, a cut, a byte too many is damage, never an entry", () => {
    const [record] = [...encodeJournal(everyEntry, crc32)]
    fc.assert(
      fc.property(fc.nat(record!.length * 8 - 1), (bit) => {
        const bad = record!.slice()
        bad[bit >> 3]! ^= 1 << (bit & 7)
        expect(damageOf(bad)).not.toBe("no damage")
      })
    )
    for (let length = 0; length < record!.length; length++) {
      expect(damageOf(record!.subarray(0, length))).not.toBe("no damage")
    }
    expect(damageOf(Uint8Array.from([...record!, 0]))).not.toBe("no damage")
  })

  it("metadata-B67: names a format that it does not know, and entries that are none", () => {
    const seal = (...body: ReadonlyArray<number>) => {
      const record = new Uint8Array(body.length + 4)
      record.set(body)
      new DataView(record.buffer).setUint32(body.length, crc32(Uint8Array.from(body)))
      return record
    }
    expect(damageOf(seal(2, 0, 0, 0, 1, 9))).toBe("format 2 is not known; this version reads 1")
    expect(damageOf(seal(1, 0, 0, 0, 1, 99))).toBe("entry 0 of a record is unknown")
    expect(damageOf(seal(1, 0, 0, 0, 0, 99))).toBe("a record is longer than its entries")
    expect(damageOf(seal(1, 0, 0, 0, 1, 6, 255, 255, 255, 255))).toBe(
      "entry 0 of a record is unknown"
    )
  })
})
