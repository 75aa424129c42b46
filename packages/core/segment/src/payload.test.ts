import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { ByteCursor } from "./byte-cursor.ts"
import { restorePayloads } from "./payload-restore.ts"
import { Shredder } from "./payload-shred.ts"

const text = (value: string) => new TextEncoder().encode(value)

const shredder = new Shredder()
const shred = (payloads: ReadonlyArray<Uint8Array>): Uint8Array | undefined =>
  shredder
    .shred(
      Uint8Array.from(payloads.flatMap((payload) => [...payload])),
      payloads.map(({ length }) => length)
    )
    ?.slice()

const restore = (
  shredded: Uint8Array,
  count: number,
  bytesMax = 1 << 20
): ReadonlyArray<Uint8Array> | undefined => {
  const restored = restorePayloads(new ByteCursor(shredded), count, bytesMax)
  if (restored === undefined) return undefined
  let offset = 0
  return Array.from(restored.lengths, (length) => {
    offset += length
    return restored.data.slice(offset - length, offset)
  })
}

describe("shredding", () => {
  it("gives payloads back byte for byte, be they JSON, nearly JSON or nothing of the kind", () => {
    const row = fc
      .record({ at: fc.integer(), name: fc.string(), ratio: fc.double(), tags: fc.json() })
      .map((value) => JSON.stringify(value))
    const broken = fc.tuple(row, fc.nat(), fc.string({ maxLength: 3 })).map(([line, at, more]) => {
      const where = at % (line.length + 1)
      return line.slice(0, where) + more + line.slice(where + 1)
    })
    const odd = fc.constantFrom("", "{", "[", '{"', '{"a":"\\', '{"a":-', "[1,2", '{"a" : "b" }')
    const payload = fc.oneof(
      { weight: 5, arbitrary: row },
      { weight: 2, arbitrary: broken },
      { weight: 1, arbitrary: odd },
      { weight: 1, arbitrary: fc.string() }
    )
    let worthwhile = 0
    fc.assert(
      fc.property(fc.array(payload, { maxLength: 40 }), (lines) => {
        const payloads = lines.map(text)
        const shredded = shred(payloads)
        if (shredded === undefined) return
        worthwhile++
        expect(restore(shredded, payloads.length)).toEqual(payloads)
      }),
      { numRuns: 300 }
    )
    expect(worthwhile).toBeGreaterThan(20)
  })

  it("leaves alone what it cannot make smaller, and what holds a zero byte", () => {
    expect(shred([])).toBeUndefined()
    expect(shred([text("plain text")])).toBeUndefined()
    const rows = Array.from({ length: 50 }, (_, at) => text(`{"number":${at}}`))
    expect(shred(rows)).toBeDefined()
    expect(shred([...rows, Uint8Array.of(0)])).toBeUndefined()
  })

  it("keeps the rest plain when there are too many shapes", () => {
    const rows = Array.from({ length: 1_000 }, (_, at) => text(`{"key-${at % 400}":"value ${at}"}`))
    const more = Array.from({ length: 2_000 }, (_, at) => text(`{"key-1":"value ${at}"}`))
    const shredded = shred([...rows, ...more])
    expect(shredded === undefined ? [] : restore(shredded, 3_000)).toEqual([...rows, ...more])
  })
})

describe("restoring what was forged", () => {
  const rows = Array.from({ length: 30 }, (_, at) => text(`{"number":${at},"text":"row ${at}"}`))
  const good = shred([...rows, text("plain")]) ?? new Uint8Array(0)

  it("never throws, whichever byte is changed or missing", () => {
    for (let at = 0; at < good.length; at++) {
      for (const value of [0, 1, 127, 128, 255]) {
        const forged = good.slice()
        forged[at] = value
        const restored = restore(forged, 31)
        expect(restored === undefined || restored.length === 31).toBe(true)
      }
      expect(restore(good.subarray(0, at), 31)).toBeUndefined()
    }
  })

  it("never makes more bytes than it may", () => {
    const bytes = rows.reduce((sum, row) => sum + row.length, 5)
    expect(restore(good, 31, bytes)).toBeDefined()
    expect(restore(good, 31, bytes - 1)).toBeUndefined()
  })
})
