/**
 * UTF-8, both ways, without the platform.
 *
 * Here because a platform's decoder drops a byte order mark unless it is told not to, and so
 * changes a key. Ill-formed bytes become U+FFFD by the rule of the WHATWG encoding standard
 * (one for each maximal subpart), which is what the KCL's decoder does to a key as well.
 */

const replacement = 0xfffd
/** Code units that one call turns into text; more are taken in pieces. */
const pieceUnits = 4_096

const textOf = (units: ReadonlyArray<number>): string => {
  if (units.length <= pieceUnits) return String.fromCharCode(...units)
  let text = ""
  for (let at = 0; at < units.length; at += pieceUnits) {
    text += String.fromCharCode(...units.slice(at, at + pieceUnits))
  }
  return text
}

const pushPoint = (units: Array<number>, point: number): void => {
  if (point < 0x1_0000) units.push(point)
  else units.push(0xd7c0 + (point >> 10), 0xdc00 | (point & 0x3ff))
}

/** Continuation bytes that follow a first byte; -1 when it can begin nothing. */
const continuationsOf = (first: number): number => {
  if (first < 0x80) return 0
  if (first < 0xc2) return -1
  if (first < 0xe0) return 1
  if (first < 0xf0) return 2
  return first < 0xf5 ? 3 : -1
}

/** The bounds of the second byte exclude overlong forms, surrogates and what is past U+10FFFF. */
const secondMin = (first: number): number => (first === 0xe0 ? 0xa0 : first === 0xf0 ? 0x90 : 0x80)
const secondMax = (first: number): number => (first === 0xed ? 0x9f : first === 0xf4 ? 0x8f : 0xbf)

/** The text of a range of bytes. */
export const decodeUtf8 = (bytes: Uint8Array, start: number, end: number): string => {
  const units: Array<number> = []
  let at = start
  while (at < end) {
    const first = bytes[at++]!
    const continuations = continuationsOf(first)
    if (continuations <= 0) {
      units.push(continuations === 0 ? first : replacement)
      continue
    }
    let point = first & (0x3f >> continuations)
    let taken = 0
    while (taken < continuations && at < end) {
      const next = bytes[at]!
      const least = taken === 0 ? secondMin(first) : 0x80
      const greatest = taken === 0 ? secondMax(first) : 0xbf
      if (next < least || next > greatest) break
      point = (point << 6) | (next & 0x3f)
      at++
      taken++
    }
    pushPoint(units, taken === continuations ? point : replacement)
  }
  return textOf(units)
}

/** The bytes of a text; a surrogate that stands alone becomes U+FFFD. */
export const encodeUtf8 = (text: string): Uint8Array => {
  const bytes: Array<number> = []
  for (const character of text) {
    const read = character.codePointAt(0)!
    const point = read >= 0xd800 && read <= 0xdfff ? replacement : read
    if (point < 0x80) bytes.push(point)
    else if (point < 0x800) bytes.push(0xc0 | (point >> 6), 0x80 | (point & 0x3f))
    else if (point < 0x1_0000) {
      bytes.push(0xe0 | (point >> 12), 0x80 | ((point >> 6) & 0x3f), 0x80 | (point & 0x3f))
    } else {
      bytes.push(0xf0 | (point >> 18), 0x80 | ((point >> 12) & 0x3f))
      bytes.push(0x80 | ((point >> 6) & 0x3f), 0x80 | (point & 0x3f))
    }
  }
  return Uint8Array.from(bytes)
}
