/** A table of distinct keys in the order in which they were first seen. */
import { encodeUtf8 } from "./utf8.ts"
import { fieldBytes } from "./wire-writer.ts"

/** Where a key stands in the table, or would stand; and what it adds to the message. */
export interface Entry {
  readonly key: string
  readonly index: number
  readonly isNew: boolean
  readonly encoded: Uint8Array
  /** Bytes that entering it adds: none when it stands there already. */
  readonly added: number
}

/**
 * The table. A `Map` keeps the order of insertion for every key; a plain object would move keys
 * that look like integers to the front, and every index after them would name another key.
 */
export class KeyTable {
  readonly #entries = new Map<string, Entry>()

  get size(): number {
    return this.#entries.size
  }

  /** Looks a key up without entering it. */
  find(key: string): Entry {
    const known = this.#entries.get(key)
    if (known !== undefined) return known
    const encoded = encodeUtf8(key)
    const added = fieldBytes(encoded.length)
    return { key, index: this.#entries.size, isNew: true, encoded, added }
  }

  /** Enters what `find` answered, unless it stands there. */
  enter({ encoded, index, isNew, key }: Entry): void {
    if (isNew) this.#entries.set(key, { key, index, isNew: false, encoded, added: 0 })
  }

  /** The encoded keys in their order. */
  *encodedKeys(): Iterable<Uint8Array> {
    for (const { encoded } of this.#entries.values()) yield encoded
  }
}
