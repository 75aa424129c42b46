/**
 * Writes completion maps; `map-decode.ts` reads them and describes nothing of its own.
 *
 *     "HM" | version 1 | form | base + 1 | claims | partial records | fingerprint (4 bytes)
 *     form 1, bits:  origin - base, byte count, bytes
 *     form 2, runs:  count, then gap before the run and length - 1 of each
 *     partial:       position - last one, total, form, its bits or runs
 *
 * Numbers are LEB128; positions are differences from the one before, so that large ones stay small.
 *
 * 1. The smaller form is taken, of the claims and of each partial record.
 * 2. The result is at most `maximumBytes`: the highest claims are left out first, which is safe.
 */
import { ByteWriter, fingerprint } from "./byte-writer.ts"
import {
  type Bits,
  type CompletionMap,
  type PartialRecord,
  type Runs,
  runsOf
} from "./completion-map.ts"
import { hasPart, type PartSetView } from "./part-set.ts"

/** The format version that this package writes. */
export const mapFormatVersion = 1
/** The first two bytes of every map. */
export const mapMagic: readonly [number, number] = [0x48, 0x4d]
/** A form byte: bits or runs. */
export const formBits = 1
/** A form byte: bits or runs. */
export const formRuns = 2

const fingerprintBytes = 4
/** Room for the numbers between the claims and the partial records. */
const slackBytes = 64

/** Room enough for half a million scattered claims, well below one NATS message. */
export const defaultMaximumMapBytes = 256 * 1024

/** A written map, and how much of it did not fit. */
export interface EncodedMap {
  readonly bytes: Uint8Array
  readonly droppedRuns: number
  readonly droppedPartials: number
}

/** Encodes a map in at most `maximumBytes` (at least 256). O(claims + parts). */
export const encodeMap = (
  map: CompletionMap,
  maximumBytes: number = defaultMaximumMapBytes
): EncodedMap => {
  const writer = new ByteWriter()
  const base = map.base ?? -1n
  const room = Math.max(256, maximumBytes) - fingerprintBytes - slackBytes
  const form = smallestForm(map.claims, base, room)
  for (const byte of [...mapMagic, mapFormatVersion, form.form]) writer.byte(byte)
  writer.bigint(base + 1n)
  writer.bytes(form.bytes)
  const kept = writePartials(writer, map.partials, { base, room })
  writer.uint32(fingerprint(writer.toBytes()))
  return {
    bytes: writer.toBytes(),
    droppedRuns: form.of - form.kept,
    droppedPartials: map.partials.length - kept
  }
}

interface EncodedForm {
  readonly form: number
  readonly bytes: Uint8Array
  /** How many runs are in it, the lowest first, and how many there were. */
  readonly kept: number
  readonly of: number
}

const smallestForm = (claims: Bits | Runs, base: bigint, room: number): EncodedForm => {
  const asBits = encodeBits(claims, base, room)
  // A run costs two bytes at least; scattered claims need not be written to see which is smaller.
  const fitsAsBits = asBits.kept === asBits.of
  if (fitsAsBits && asBits.bytes.length <= asBits.of * 2) return asBits
  const asRuns = encodeRuns(runsOf(claims), base, room)
  if (asBits.kept !== asRuns.kept) return asBits.kept > asRuns.kept ? asBits : asRuns
  return asBits.bytes.length < asRuns.bytes.length ? asBits : asRuns
}

const encodeRuns = ({ from, to }: Runs, base: bigint, room: number): EncodedForm => {
  const body = new ByteWriter()
  let kept = 0
  let before = base
  for (let index = 0; index < from.length; index++) {
    const length = body.length
    body.bigint(from[index]! - before - 1n)
    body.bigint(to[index]! - from[index]!)
    if (body.length > room) {
      body.truncate(length)
      break
    }
    before = to[index]!
    kept += 1
  }
  const writer = new ByteWriter()
  writer.number(kept)
  writer.bytes(body.toBytes())
  return { form: formRuns, bytes: writer.toBytes(), kept, of: from.length }
}

const encodeBits = (claims: Bits | Runs, base: bigint, room: number): EncodedForm => {
  if (claims._tag === "Bits" && claims.bytes.length <= room) {
    const runs = countRuns(claims.bytes)
    return bitsForm(claims, { base, kept: runs, of: runs })
  }
  const { from, to } = runsOf(claims)
  const origin = from[0]
  if (origin === undefined) return { form: formBits, bytes: Uint8Array.of(0, 0), kept: 0, of: 0 }
  const limit = origin + BigInt(room) * 8n
  let kept = 0
  while (kept < to.length && to[kept]! < limit) kept += 1
  const last = to[kept - 1]
  const bits = last === undefined ? 0 : Number(last - origin) + 1
  const bytes = new Uint8Array(Math.ceil(bits / 8))
  for (let index = 0; index < kept; index++) {
    setBits(bytes, Number(from[index]! - origin), Number(to[index]! - origin))
  }
  return bitsForm({ _tag: "Bits", origin, bytes }, { base, kept, of: from.length })
}

const bitsForm = (
  { bytes, origin }: Bits,
  { base, kept, of }: { readonly base: bigint; readonly kept: number; readonly of: number }
): EncodedForm => {
  const writer = new ByteWriter()
  let length = bytes.length
  while (length > 0 && bytes[length - 1] === 0) length -= 1
  writer.bigint(origin - base)
  writer.number(length)
  writer.bytes(bytes.subarray(0, length))
  return { form: formBits, bytes: writer.toBytes(), kept, of }
}

const countRuns = (bytes: Uint8Array): number => {
  let count = 0
  let carry = 0
  for (const byte of bytes) {
    // A run starts at a set bit whose lower neighbour is not set.
    for (let starts = byte & ~((byte << 1) | carry) & 0xff; starts !== 0; starts &= starts - 1) {
      count += 1
    }
    carry = byte >>> 7
  }
  return count
}

const setBits = (bytes: Uint8Array, from: number, to: number): void => {
  for (let bit = from; bit <= to;) {
    if ((bit & 7) === 0 && bit + 7 <= to) {
      bytes[bit >>> 3] = 0xff
      bit += 8
    } else {
      bytes[bit >>> 3] = bytes[bit >>> 3]! | (1 << (bit & 7))
      bit += 1
    }
  }
}

const writePartials = (
  writer: ByteWriter,
  partials: ReadonlyArray<PartialRecord>,
  { base, room }: { readonly base: bigint; readonly room: number }
): number => {
  const body = new ByteWriter()
  let before = base
  let kept = 0
  for (const { finished, position } of partials) {
    const length = body.length
    body.bigint(position - before - 1n)
    body.number(finished.total)
    writeParts(body, finished)
    if (writer.length + body.length > room) {
      body.truncate(length)
      break
    }
    before = position
    kept += 1
  }
  writer.number(kept)
  writer.bytes(body.toBytes())
  return kept
}

const writeParts = (writer: ByteWriter, set: PartSetView): void => {
  const runs = new ByteWriter()
  let count = 0
  let before = -1
  for (let index = 0; index < set.total; index++) {
    if (!hasPart(set, index)) continue
    let end = index
    while (hasPart(set, end + 1)) end += 1
    runs.number(index - before - 1)
    runs.number(end - index)
    before = end
    index = end
    count += 1
  }
  const bitBytes = Math.ceil(set.total / 8)
  if (bitBytes <= runs.length) {
    writer.byte(formBits)
    const words = new Uint8Array(bitBytes)
    for (let at = 0; at < bitBytes; at++) {
      words[at] = ((set.words[at >>> 2] ?? 0) >>> ((at & 3) * 8)) & 0xff
    }
    writer.bytes(words)
    return
  }
  writer.byte(formRuns)
  writer.number(count)
  writer.bytes(runs.toBytes())
}
