/**
 * Tags of an index as people type and read them: printable ASCII stands for itself, any other byte
 * as `\xNN`, and a backslash as `\x5c`.
 */
import { Result } from "effect"

const isPlain = (byte: number): boolean => byte >= 0x20 && byte < 0x7f && byte !== 0x5c

/** A tag as text. */
export const showTag = (tag: Uint8Array): string =>
  Array.from(tag, (byte) =>
    isPlain(byte) ? String.fromCharCode(byte) : `\\x${byte.toString(16).padStart(2, "0")}`
  ).join("")

/** Reads a tag; text that is not ASCII stands for its UTF-8. Fails with what would be right. */
export const readTag = (text: string): Result.Result<Uint8Array, string> => {
  const bytes: Array<number> = []
  const parts = text.split(/(\\(?:x[0-9a-fA-F]{2})?)/)
  for (const part of parts) {
    if (part === "\\") {
      return Result.fail(`"${text}" has a backslash alone; right would be \\xNN, and \\x5c for it`)
    }
    if (part.startsWith("\\")) bytes.push(Number.parseInt(part.slice(2), 16))
    else bytes.push(...new TextEncoder().encode(part))
  }
  return Result.succeed(Uint8Array.from(bytes))
}
