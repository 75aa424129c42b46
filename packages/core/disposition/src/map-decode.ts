/**
 * Reads completion maps, and refuses what cannot be trusted.
 *
 * 1. A map is accepted whole or not at all; what is refused claims nothing, so every record above
 *    the checkpoint comes again and none is lost.
 * 2. A map belongs to exactly one checkpoint. With another base it is refused.
 * 3. Claims above the newest position that the shard is known to hold are refused.
 * 4. Whatever the bytes say, the memory taken is bounded by the given limits.
 */
import { Result, Schema } from "effect"
import { ByteReader, ReadFault } from "./byte-reader.ts"
import { fingerprint } from "./byte-writer.ts"
import {
  type Bits,
  type CompletionMap,
  emptyMap,
  highestClaim,
  type PartialRecord,
  type Runs,
  statusOf
} from "./completion-map.ts"
import { formBits, formRuns, mapFormatVersion, mapMagic } from "./map-encode.ts"
import { addPart, makePartSet, type PartSet } from "./part-set.ts"

/**
 * A stored map that is not used. `malformed`: damaged or not a map. `unsupported`: of a later
 * format. `wrong-base`: of another checkpoint. `claims-too-much`: above what the shard holds.
 * `too-large`: over the limits.
 */
export class MapRefused extends Schema.TaggedError<MapRefused>()("MapRefused", {
  code: Schema.Literals(["malformed", "unsupported", "wrong-base", "claims-too-much", "too-large"]),
  message: Schema.String
}) {}

/** What the reader knows about the map that it is given. */
export interface DecodeMapOptions {
  /** The position of the checkpoint that the map was stored with. */
  readonly base: bigint | undefined
  /** The newest position that the shard is known to hold; none when that is not known. */
  readonly newest: bigint | undefined
  readonly maximumBytes?: number
  /** The sum of the totals of all partial records. */
  readonly maximumParts?: number
}

const defaultMaximumBytes = 1024 * 1024
const defaultMaximumParts = 8 * 1024 * 1024

/** Decodes a stored map; no bytes at all are the empty map. O(bytes + parts). */
export const decodeMap = (
  bytes: Uint8Array,
  options: DecodeMapOptions
): Result.Result<CompletionMap, MapRefused> => {
  if (bytes.length === 0) return Result.succeed(emptyMap(options.base))
  const maximumBytes = options.maximumBytes ?? defaultMaximumBytes
  if (bytes.length > maximumBytes) {
    return refuse("too-large", `it has ${bytes.length} bytes; at most ${maximumBytes} are read`)
  }
  try {
    return readMap(bytes, options)
  } catch (fault) {
    if (fault instanceof ReadFault) return refuse("malformed", fault.message)
    throw fault
  }
}

const refuse = (code: MapRefused["code"], why: string): Result.Result<never, MapRefused> =>
  Result.fail(new MapRefused({ code, message: `The completion map is not used: ${why}.` }))

const readMap = (
  bytes: Uint8Array,
  options: DecodeMapOptions
): Result.Result<CompletionMap, MapRefused> => {
  const reader = new ByteReader(bytes)
  if (reader.byte() !== mapMagic[0] || reader.byte() !== mapMagic[1]) {
    return refuse("malformed", "it does not begin as one")
  }
  const version = reader.byte()
  if (version !== mapFormatVersion) {
    return refuse("unsupported", `it has format ${version}; this program reads 1`)
  }
  const sum = new ByteReader(bytes.subarray(Math.max(0, bytes.length - 4))).uint32()
  if (sum !== fingerprint(bytes.subarray(0, bytes.length - 4))) {
    return refuse("malformed", "its fingerprint does not match")
  }
  const form = reader.byte()
  const base = reader.bigint() - 1n
  if (base !== (options.base ?? -1n)) {
    return refuse("wrong-base", `it stands above ${base}, the checkpoint at ${options.base}`)
  }
  const claims = readClaims(reader, form, base)
  const partials = readPartials(reader, base, options.maximumParts ?? defaultMaximumParts)
  if (reader.left !== 4) throw new ReadFault("bytes follow its end")
  const map: CompletionMap = { base: options.base, claims, partials }
  const highest = highestClaim(map)
  if (highest !== undefined && options.newest !== undefined && highest > options.newest) {
    return refuse("claims-too-much", `it claims ${highest}; the shard ends at ${options.newest}`)
  }
  const claimless: CompletionMap = { ...map, partials: [] }
  if (partials.some(({ position }) => statusOf(claimless, position)._tag !== "Unfinished")) {
    throw new ReadFault("it claims a record both as finished and in parts")
  }
  return Result.succeed(map)
}

const readClaims = (reader: ByteReader, form: number, base: bigint): Runs | Bits => {
  if (form === formBits) {
    const origin = base + reader.bigint()
    const bytes = reader.bytes(reader.number())
    if (bytes.length > 0 && origin <= base) throw new ReadFault("it claims its own base")
    return { _tag: "Bits", origin, bytes }
  }
  if (form !== formRuns) throw new ReadFault(`its form ${form} does not exist`)
  const from: Array<bigint> = []
  const to: Array<bigint> = []
  let before = base
  for (let count = reader.number(); count > 0; count--) {
    const start = before + 1n + reader.bigint()
    before = start + reader.bigint()
    from.push(start)
    to.push(before)
  }
  return { _tag: "Runs", from, to }
}

const readPartials = (
  reader: ByteReader,
  base: bigint,
  maximumParts: number
): ReadonlyArray<PartialRecord> => {
  const partials: Array<PartialRecord> = []
  let before = base
  let parts = 0
  for (let count = reader.number(); count > 0; count--) {
    const position = before + 1n + reader.bigint()
    const total = reader.number()
    parts += total
    if (parts > maximumParts) throw new ReadFault(`it has more than ${maximumParts} parts`)
    const finished = readParts(reader, total)
    if (finished.count === total) throw new ReadFault("a record in parts has all of them")
    partials.push({ position, finished })
    before = position
  }
  return partials
}

const readParts = (reader: ByteReader, total: number): PartSet => {
  const set = makePartSet(total)
  const form = reader.byte()
  if (form === formBits) {
    const bytes = reader.bytes(Math.ceil(total / 8))
    for (let index = 0; index < total; index++) {
      if (((bytes[index >>> 3] ?? 0) & (1 << (index & 7))) !== 0) addPart(set, index)
    }
    return set
  }
  if (form !== formRuns) throw new ReadFault(`the form ${form} of a record does not exist`)
  let next = 0
  for (let count = reader.number(); count > 0; count--) {
    next += reader.number()
    const end = next + reader.number()
    if (end >= total) throw new ReadFault("a part is outside its record")
    for (; next <= end; next++) addPart(set, next)
    next = end + 1
  }
  return set
}
