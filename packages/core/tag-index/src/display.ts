/**
 * Tags as text for people: valid UTF-8 that can be seen is shown as it is, every other byte as
 * `\xNN`, a backslash as `\\`.
 *
 * 1. `showTag` never throws, whatever the bytes.
 * 2. `parseTag(showTag(tag))` is the tag: two different tags never look the same byte for byte.
 */
import { Result } from "effect"
import { TAG_BYTES_MAX, TagRefused } from "./record.ts"
import type { Tag } from "./record.ts"

/** Control, format, private, unassigned and separating characters: they are shown escaped. */
const UNSEEN = /[\p{C}\p{Zl}\p{Zp}]/u
const BACKSLASH = 0x5c

const escapeByte = (byte: number): string => `\\x${byte.toString(16).padStart(2, "0")}`

/** How many bytes a UTF-8 character takes by its first byte, 0 where none begins. */
const lengthByFirstByte = (byte: number): number => {
  if (byte < 0x80) return 1
  if (byte >= 0xc2 && byte < 0xe0) return 2
  if (byte >= 0xe0 && byte < 0xf0) return 3
  return byte >= 0xf0 && byte < 0xf5 ? 4 : 0
}

const LOWEST_CODE_POINT: ReadonlyArray<number> = [0, 0, 0x80, 0x800, 0x10000]

/** The character that begins at an offset, or `undefined` where the bytes are no valid UTF-8. */
const characterAt = (
  tag: Tag,
  offset: number
): { readonly codePoint: number; readonly length: number } | undefined => {
  const first = tag[offset]!
  const length = lengthByFirstByte(first)
  if (length === 0 || offset + length > tag.length) return undefined
  let codePoint = length === 1 ? first : first & (0x7f >> length)
  for (let index = 1; index < length; index++) {
    const byte = tag[offset + index]!
    if ((byte & 0xc0) !== 0x80) return undefined
    codePoint = (codePoint << 6) | (byte & 0x3f)
  }
  const isSurrogate = codePoint >= 0xd800 && codePoint <= 0xdfff
  if (codePoint < LOWEST_CODE_POINT[length]! || codePoint > 0x10ffff || isSurrogate)
    return undefined
  return { codePoint, length }
}

/** A tag as text; never throws. */
export const showTag = (tag: Tag): string => {
  let text = ""
  let offset = 0
  while (offset < tag.length) {
    const character = characterAt(tag, offset)
    if (character === undefined) {
      text += escapeByte(tag[offset]!)
      offset += 1
      continue
    }
    const shown = String.fromCodePoint(character.codePoint)
    if (character.codePoint === BACKSLASH) text += "\\\\"
    else if (!UNSEEN.test(shown)) text += shown
    else {
      for (const byte of tag.subarray(offset, offset + character.length)) text += escapeByte(byte)
    }
    offset += character.length
  }
  return text
}

const utf8Of = (codePoint: number): ReadonlyArray<number> => {
  if (codePoint < 0x80) return [codePoint]
  const low = 0x80 | (codePoint & 0x3f)
  if (codePoint < 0x800) return [0xc0 | (codePoint >> 6), low]
  const middle = 0x80 | ((codePoint >> 6) & 0x3f)
  if (codePoint < 0x10000) return [0xe0 | (codePoint >> 12), middle, low]
  return [0xf0 | (codePoint >> 18), 0x80 | ((codePoint >> 12) & 0x3f), middle, low]
}

/** The tag of text as `showTag` writes it, or as a person types it with the same escapes. */
export const parseTag = (text: string): Result.Result<Tag, TagRefused> => {
  const bytes: Array<number> = []
  const pattern = /\\x([0-9a-fA-F]{2})|\\\\|[^\\]/gsuy
  let end = 0
  for (const match of text.matchAll(pattern)) {
    const [whole, hex] = match
    end = match.index + whole.length
    if (hex !== undefined) bytes.push(Number.parseInt(hex, 16))
    else bytes.push(...utf8Of(whole === "\\\\" ? BACKSLASH : whole.codePointAt(0)!))
  }
  if (end !== text.length) {
    const message = `A lone backslash stands at character ${end}; write \\\\ for it, or \\x and 2 hexadecimal digits.`
    return Result.fail(new TagRefused({ code: "malformed", message }))
  }
  if (bytes.length > TAG_BYTES_MAX) {
    const message = `A tag of ${bytes.length} bytes is too long; ${TAG_BYTES_MAX} are the most.`
    return Result.fail(new TagRefused({ code: "too-long", message }))
  }
  return Result.succeed(Uint8Array.from(bytes))
}
