/** Which records a segment holds, as the worker knows them: what to report when it is stored. */
import type { Disposition, OfferedRecord } from "@holdfast/service-worker"

type Ordinal = OfferedRecord["ordinal"]

interface HeldParts {
  readonly total: number
  readonly indexes: Array<number>
}

/** Whole records by their ordinals; parts of records by record. */
export class SegmentContents {
  readonly #whole: Array<Ordinal> = []
  readonly #parts = new Map<Ordinal, HeldParts>()
  /** How many records the segment holds, each part counted. */
  count = 0

  /** Takes note of a record or a part. */
  add({ ordinal, part }: OfferedRecord): void {
    this.count += 1
    if (part === undefined) {
      this.#whole.push(ordinal)
      return
    }
    const held = this.#parts.get(ordinal)
    if (held === undefined) this.#parts.set(ordinal, { total: part.total, indexes: [part.index] })
    else held.indexes.push(part.index)
  }

  /** All of it is durable. */
  done(): ReadonlyArray<Disposition> {
    const parts = Array.from(this.#parts, ([ordinal, held]): Disposition => {
      return { _tag: "PartsDone", ordinal, ...held }
    })
    return this.#whole.length === 0 ? parts : [{ _tag: "Done", ordinals: this.#whole }, ...parts]
  }

  /**
   * None of it is. A record in parts fails as one, so that all of its missing parts come again
   * together.
   */
  failed(how: {
    readonly reason: string
    readonly fatal: boolean
    readonly outage: boolean
  }): ReadonlyArray<Disposition> {
    return [...this.#whole, ...this.#parts.keys()].map((ordinal) => {
      return { _tag: "Failed", ordinal, ...how }
    })
  }
}
