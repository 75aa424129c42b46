/** Which values each tag has within a segment, or that there are too many to say. */
import { ByteDictionary } from "./dictionary.ts"
import { tagValueBytesMax } from "./limits.ts"
import { compareBytes, type RecordTag } from "./record.ts"

/**
 * The values of one tag in one segment.
 *
 * Overflowed: the segment may hold any value of this tag, and `values` is empty. Otherwise `values`
 * are all there are, distinct and in byte order.
 */
export interface TagValues {
  readonly name: string
  readonly overflowed: boolean
  readonly values: ReadonlyArray<Uint8Array>
}

/** Collects the values of the tags that it was made with, up to a limit each. */
export class TagCollector {
  readonly #byName = new Map<string, ByteDictionary | "overflowed">()

  constructor(names: ReadonlyArray<string>, valuesMax: number) {
    for (const name of names) {
      const limits = { entriesMax: valuesMax, entryBytesMax: tagValueBytesMax }
      this.#byName.set(name, new ByteDictionary(limits))
    }
  }

  /** False when the name is not one of those declared; nothing is changed then. */
  add(tag: RecordTag): boolean {
    const values = this.#byName.get(tag.name)
    if (values === undefined) return false
    if (values !== "overflowed" && values.reference(tag.value) === 0) {
      this.#byName.set(tag.name, "overflowed")
    }
    return true
  }

  summary(): ReadonlyArray<TagValues> {
    return Array.from(this.#byName, ([name, values]): TagValues =>
      values === "overflowed"
        ? { name, overflowed: true, values: [] }
        : { name, overflowed: false, values: values.entries.toSorted(compareBytes) }
    ).toSorted((left, right) => (left.name < right.name ? -1 : 1))
  }
}
