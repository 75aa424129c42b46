/**
 * The tags under which the entries of the catalogue are found, and the ranges that walk them.
 *
 *     A name                                        archives by name
 *     P archive shard  class first                  segments of a shard by position
 *     T archive        class timeMin                segments by time
 *     V archive tag value  class timeMin            segments that hold a value of a tag
 *     O archive tag    class timeMin                segments that may hold any value of a tag
 *     G archive rules  class timeMin                segments by the tag rules they were sealed
 *     under
 *     X archive        timeMax                      segments by when their newest record is
 *     C file chunk                                  segments by chunk
 *     F name                                        plain files by name
 *     U name                                        names of files that left puts unfinished, or
 *     chunks to free
 *
 * A segment is an interval, and an index finds points. So intervals are put into classes: class c
 * holds those shorter than 4^c. What overlaps [from, to] in class c begins after from - 4^c and at
 * or before `to`: one range a class, and the classes that exist are found by skipping from one to
 * the next.
 *
 * Every tag has at most 512 bytes. Texts that may be long (shard names) are cut like tag values.
 */
import type { CatalogueState } from "./events.ts"
import {
  joinBytes,
  orderedInteger,
  orderedPosition,
  orderedText,
  orderedTime,
  orderedWord,
  positionMaximum,
  positionOfBytes,
  timeMaximum,
  timeMinimum,
  timeOfBytes
} from "./ordered-bytes.ts"
import type { CataloguePlatform } from "./platform.ts"
import type { SegmentEntry } from "./segment-entry.ts"
import { canonicalText } from "./tag-values.ts"

type TagPlatform = Pick<CataloguePlatform, "encodeText" | "sha256">

const letter = (character: string): Uint8Array => Uint8Array.of(character.charCodeAt(0))

/** Tags from `from` up to and including `upTo`, in byte order. */
export interface TagRange {
  readonly from: Uint8Array
  readonly upTo: Uint8Array
}

/** What the walked intervals are measured in. */
export type Measure = "time" | "position"

/** All tags of intervals that share a prefix. */
export interface IntervalWalk {
  readonly prefix: Uint8Array
  readonly measure: Measure
}

const lowest = { time: timeMinimum, position: 0n } as const
const highest = { time: timeMaximum, position: positionMaximum } as const
const classMax = 128
const rangeEnd = new Uint8Array(64).fill(0xff)

/** The class of an interval: the smallest c with high - low < 4^c. */
export const intervalClass = (low: bigint, high: bigint): number => {
  const span = high - low
  return span <= 0n ? 0 : Math.ceil(span.toString(2).length / 2)
}

const encodeLow = (measure: Measure, low: bigint): Uint8Array =>
  measure === "time" ? orderedTime(low) : orderedPosition(low)

const intervalTag = (walk: IntervalWalk, low: bigint, high: bigint): Uint8Array =>
  joinBytes([walk.prefix, Uint8Array.of(intervalClass(low, high)), encodeLow(walk.measure, low)])

/** The class and the lower end that a tag of a walk says, none when it is another walk's. */
export const readIntervalTag = (
  walk: IntervalWalk,
  tag: Uint8Array
): { readonly class: number; readonly low: bigint } | undefined => {
  const { length } = walk.prefix
  if (tag.length <= length || !walk.prefix.every((byte, at) => tag[at] === byte)) return undefined
  const rest = tag.subarray(length + 1)
  const low = walk.measure === "time" ? timeOfBytes(rest) : positionOfBytes(rest)
  return { class: tag[length] ?? 0, low }
}

/** Every tag of a walk from a class on: the first record of it tells the next class there is. */
export const classesFrom = (walk: IntervalWalk, first: number): TagRange => ({
  from: joinBytes([walk.prefix, Uint8Array.of(Math.min(first, 255))]),
  upTo: joinBytes([walk.prefix, Uint8Array.of(classMax), rangeEnd])
})

/** The tags of one class whose intervals may overlap [from, to], in order of their lower ends. */
export const overlapping = (
  walk: IntervalWalk,
  wanted: {
    readonly class: number
    readonly from?: bigint | undefined
    readonly to?: bigint | undefined
  }
): TagRange => {
  const { measure, prefix } = walk
  const longest = 4n ** BigInt(wanted.class) - 1n
  const earliest = wanted.from === undefined ? lowest[measure] : wanted.from - longest
  const low = earliest < lowest[measure] ? lowest[measure] : earliest
  const high = wanted.to === undefined ? highest[measure] : wanted.to
  const head = joinBytes([prefix, Uint8Array.of(wanted.class)])
  return {
    from: joinBytes([head, encodeLow(measure, low)]),
    upTo: joinBytes([head, encodeLow(measure, high)])
  }
}

/** The walks and tags of a catalogue on one platform. */
export const makeTagIndex = (platform: TagPlatform) => {
  const text = (value: string): Uint8Array => orderedText(platform.encodeText(value))
  const cut = (value: string): Uint8Array =>
    orderedText(canonicalText(platform.encodeText(value), platform.sha256))
  const timeWalk = (prefix: ReadonlyArray<Uint8Array>): IntervalWalk => ({
    prefix: joinBytes(prefix),
    measure: "time"
  })

  const byPosition = (archive: string, shard: string): IntervalWalk => ({
    prefix: joinBytes([letter("P"), text(archive), cut(shard)]),
    measure: "position"
  })
  const byTime = (archive: string) => timeWalk([letter("T"), text(archive)])
  const byValue = (archive: string, tag: string, value: Uint8Array) =>
    timeWalk([letter("V"), text(archive), text(tag), orderedText(value)])
  const byOverflow = (archive: string, tag: string) =>
    timeWalk([letter("O"), text(archive), text(tag)])
  const byRules = (archive: string, rules: number) =>
    timeWalk([letter("G"), text(archive), orderedWord(rules)])

  /** Archives in order of their names. */
  const archives: TagRange = {
    from: letter("A"),
    upTo: joinBytes([letter("A"), rangeEnd])
  }
  /** Plain files whose names begin with a prefix, in order of their names. */
  const files = (prefix: string): TagRange => {
    const from = joinBytes([letter("F"), platform.encodeText(prefix)])
    return { from, upTo: joinBytes([from, rangeEnd]) }
  }
  /** Names, as for `files`, that remember file ids beside their file. */
  const leftovers = (prefix: string): TagRange => {
    const from = joinBytes([letter("U"), platform.encodeText(prefix)])
    return { from, upTo: joinBytes([from, rangeEnd]) }
  }
  /** Segments whose newest record is at or before `newest`, oldest first. */
  const expiring = (archive: string, newest: bigint): TagRange => {
    const prefix = joinBytes([letter("X"), text(archive)])
    return { from: prefix, upTo: joinBytes([prefix, orderedTime(newest)]) }
  }
  /** Every segment's chunk of a file, in order of chunk ids. */
  const chunksOfFile = (fileId: number): TagRange => {
    const prefix = joinBytes([letter("C"), orderedInteger(fileId)])
    return { from: prefix, upTo: joinBytes([prefix, Uint8Array.of(255, 255, 255, 255)]) }
  }
  /** Shards of an archive: the first record from a place tells the next shard there is. */
  const shardsAfter = (archive: string, shard: string | undefined): TagRange => {
    const prefix = joinBytes([letter("P"), text(archive)])
    const from =
      shard === undefined ? prefix : joinBytes([prefix, cut(shard), Uint8Array.of(classMax + 1)])
    return { from, upTo: joinBytes([prefix, rangeEnd]) }
  }

  const ofSegment = (segment: SegmentEntry): ReadonlyArray<Uint8Array> => {
    const { archive, chunk, first, last, rules, shard, timeMax, timeMin } = segment
    const inTime = (walk: IntervalWalk) => intervalTag(walk, timeMin, timeMax)
    return [
      intervalTag(byPosition(archive, shard), first, last),
      inTime(byTime(archive)),
      inTime(byRules(archive, rules)),
      joinBytes([letter("X"), text(archive), orderedTime(timeMax)]),
      joinBytes([letter("C"), orderedInteger(chunk.fileId), orderedWord(chunk.chunkId)]),
      ...segment.tags.flatMap(({ name, overflowed, values }) =>
        overflowed
          ? [inTime(byOverflow(archive, name))]
          : values.map((value) => inTime(byValue(archive, name, value)))
      )
    ]
  }

  const ofLeftovers = (
    name: string,
    fileIds: ReadonlyArray<number> | undefined
  ): ReadonlyArray<Uint8Array> =>
    fileIds === undefined ? [] : [joinBytes([letter("U"), platform.encodeText(name)])]

  /** The complete set of tags of an entry. */
  const tagsOf = (state: CatalogueState): ReadonlyArray<Uint8Array> => {
    switch (state._tag) {
      case "Empty":
      case "ExpiredSegment":
        return []
      case "DeletedFile":
        return ofLeftovers(state.name, state.leftovers)
      case "File": {
        const { file, leftovers } = state
        const byName = joinBytes([letter("F"), platform.encodeText(file.name)])
        return [byName, ...ofLeftovers(file.name, leftovers)]
      }
      case "Archive":
        return [joinBytes([letter("A"), platform.encodeText(state.archive.origin.name)])]
      case "Segment":
        return ofSegment(state.segment)
    }
  }

  return {
    archives,
    byOverflow,
    byPosition,
    byRules,
    byTime,
    byValue,
    chunksOfFile,
    expiring,
    files,
    leftovers,
    shardsAfter,
    tagsOf
  }
}

/** The walks and tags of a catalogue. */
export type CatalogueTagIndex = ReturnType<typeof makeTagIndex>

/** The chunk id that a tag of `chunksOfFile` says. */
export const chunkIdOfTag = (tag: Uint8Array): number =>
  tag.subarray(-4).reduce((value, byte) => value * 256 + byte, 0)
