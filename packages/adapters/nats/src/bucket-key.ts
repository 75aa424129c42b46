/** Keys of a key-value bucket, and names on a server, for names of any letters. */

const encoder = new TextEncoder()

/**
 * A key that is unique for the name: letters, digits, `-` and `_` stay as they are, any other byte
 * of its UTF-8 becomes `=` and two hexadecimal digits, and an empty name is `=` alone.
 */
export const bucketKey = (name: string): string => {
  if (name === "") return "="
  let key = ""
  for (const byte of encoder.encode(name)) {
    const letter = String.fromCharCode(byte)
    key += /[A-Za-z0-9_-]/.test(letter) ? letter : `=${byte.toString(16).padStart(2, "0")}`
  }
  return key
}
