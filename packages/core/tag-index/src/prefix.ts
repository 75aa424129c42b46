/** Bounds of the tags that begin with a prefix. */
import type { Tag } from "./record.ts"

/**
 * The smallest tag above every tag that begins with the prefix, or `undefined` when there is none
 * because the prefix is empty or all ones. `[prefix, prefixEnd(prefix))` are the tags with it.
 */
export const prefixEnd = (prefix: Tag): Tag | undefined => {
  let length = prefix.length
  while (length > 0 && prefix[length - 1] === 0xff) length -= 1
  if (length === 0) return undefined
  // A copy: `slice` of a Node buffer would share its memory, and the caller's prefix would change.
  const end = new Uint8Array(prefix.subarray(0, length))
  end[length - 1] = end[length - 1]! + 1
  return end
}

/** Whether a tag begins with a prefix. */
export const hasPrefix = (tag: Tag, prefix: Tag): boolean =>
  tag.length >= prefix.length && prefix.every((byte, index) => tag[index] === byte)
