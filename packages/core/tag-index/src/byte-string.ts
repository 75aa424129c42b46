/**
 * Byte strings: a tag as a string with one character, 0 to 255, for each byte.
 *
 * The engine stores them with one byte a character and compares them with `memcmp`, and their order
 * is the bytewise order of the tags, so an index of them is smaller and faster than one of arrays.
 */
import type { Tag } from "./record.ts"

/**
 * The byte string of a tag; one flat string at once, as one built by adding must be copied. The
 * engine passes a plain array on in half the time that it takes for a typed one.
 */
export const toByteString = (tag: Tag): string => {
  const codes: Array<number> = []
  for (const code of tag) codes.push(code)
  const text: string = Reflect.apply(String.fromCharCode, undefined, codes)
  return text
}

/** The tag of a byte string. */
export const fromByteString = (text: string): Tag => {
  const tag = new Uint8Array(text.length)
  for (let index = 0; index < text.length; index++) tag[index] = text.charCodeAt(index)
  return tag
}
