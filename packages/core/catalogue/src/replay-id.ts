/**
 * The ids of replayed records: which replay brought a record, and which record it is.
 *
 *     holdfast.<archive>.<replay>.<position>[_<part>][.<shard>]
 *
 * A replay is an archive's life and a selection of its records. The last position that is wanted is
 * no part of the selection: a replay that goes further is the same one, gone on with.
 *
 * 1. An id is read back as what it was made of.
 * 2. Replays of different selections, or of different lives of an archive, share no id.
 */
import { joinBytes, orderedInteger, orderedText } from "./ordered-bytes.ts"
import type { CataloguePlatform } from "./platform.ts"

/** Which of an archive's records a replay brings. Times are nanoseconds since 1970. */
export interface ReplaySelection {
  readonly shard?: string | undefined
  readonly from?: bigint | undefined
  readonly timeFrom?: bigint | undefined
  readonly timeTo?: bigint | undefined
  readonly tag?: { readonly name: string; readonly value: string } | undefined
}

/** One replay of one archive. */
export interface Replay {
  readonly archive: string
  /** 16 hex digits of the archive's life and the selection. */
  readonly digest: string
}

/** Which record of an archive. */
export interface ReplayPlace {
  readonly shard: string
  readonly position: bigint
  readonly part: number
}

/** What the ids of every replay begin with. */
export const replayIdPrefix = "holdfast."

const digestBytes = 8

/** The replay of a selection of an archive. */
export const replayOf = (
  archive: { readonly name: string; readonly fileId: number },
  selection: ReplaySelection,
  platform: Pick<CataloguePlatform, "encodeText" | "sha256">
): Replay => {
  const { from, shard, tag, timeFrom, timeTo } = selection
  const parts = [shard, from?.toString(), timeFrom?.toString(), timeTo?.toString()]
  const texts = [...parts, tag?.name, tag?.value].map((part) =>
    part === undefined ? "" : `=${part}`
  )
  const digest = platform.sha256(
    joinBytes([
      platform.encodeText("holdfast replay\n"),
      orderedText(platform.encodeText(archive.name)),
      orderedInteger(archive.fileId),
      ...texts.map((text) => orderedText(platform.encodeText(text)))
    ])
  )
  const hex = Array.from(digest.subarray(0, digestBytes), (byte) =>
    byte.toString(16).padStart(2, "0")
  )
  return { archive: archive.name, digest: hex.join("") }
}

/** The id of a record in a replay. */
export const replayId = ({ archive, digest }: Replay, place: ReplayPlace): string => {
  const part = place.part === 0 ? "" : `_${place.part}`
  // Most archives have one shard, called as they are.
  const shard = place.shard === archive ? "" : `.${encodeURIComponent(place.shard.toWellFormed())}`
  return `${replayIdPrefix}${archive}.${digest}.${place.position}${part}${shard}`
}

const pattern = /^holdfast\.([A-Za-z0-9_-]+)\.([0-9a-f]{16})\.(\d+)(?:_(\d+))?(?:\.(.+))?$/

/** The record that an id of this replay names; undefined for any other text. */
export const readReplayId = ({ archive, digest }: Replay, id: string): ReplayPlace | undefined => {
  const parts = pattern.exec(id)
  if (parts === null || parts[1] !== archive || parts[2] !== digest) return undefined
  const [, , , position = "", part = "0", shard] = parts
  const decoded = shard === undefined ? archive : decodeShard(shard)
  if (decoded === undefined) return undefined
  return { shard: decoded, position: BigInt(position), part: Number(part) }
}

/** What the ids of one shard in one replay share; undefined for any other text. */
export const replayShardOf = (id: string): string | undefined => {
  const parts = pattern.exec(id)
  return parts === null ? undefined : [parts[1], parts[2], parts[5] ?? ""].join(".")
}

const decodeShard = (text: string): string | undefined => {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

/** Whether a record stands behind a place of its own shard. */
export const isBehind = (
  record: { readonly position: bigint; readonly part: number },
  place: { readonly position: bigint; readonly part: number }
): boolean =>
  record.position > place.position ||
  (record.position === place.position && record.part > place.part)
