/**
 * How many chunks have each (replica set, goal): the histogram that answers health questions
 * without a scan. Persistent: an edit copies each page of 1024 counters that it touches once.
 */
const PAGE = 1024

/** Counters by `set * 16 + goal`. */
export interface Counts {
  readonly pages: ReadonlyArray<Int32Array>
}

/** All counters zero. */
export const noCounts: Counts = { pages: [] }

/** Calls `visit` with each set and goal that some chunk has. */
export const eachCount = (
  counts: Counts,
  visit: (set: number, goal: number, chunks: number) => void
): void => {
  counts.pages.forEach((page, index) => {
    for (let place = 0; place < PAGE; place++) {
      const chunks = page[place]!
      if (chunks !== 0) {
        const at = index * PAGE + place
        visit(at >>> 4, at & 0xf, chunks)
      }
    }
  })
}

/** A scoped batch of edits of the counters. */
export class CountsEdit implements Counts {
  readonly #pages: Array<Int32Array>
  readonly #owned = new Set<number>()
  #changed = false

  constructor(base: Counts) {
    this.#pages = base.pages.slice()
  }

  /** The pages at this moment. */
  get pages(): ReadonlyArray<Int32Array> {
    return this.#pages
  }

  /** Adds to the counter of a set and goal. */
  add(set: number, goal: number, change: number): void {
    const at = set * 16 + goal
    const index = Math.floor(at / PAGE)
    while (this.#pages.length <= index) {
      this.#owned.add(this.#pages.length)
      this.#pages.push(new Int32Array(PAGE))
    }
    if (!this.#owned.has(index)) {
      this.#pages[index] = this.#pages[index]!.slice()
      this.#owned.add(index)
    }
    this.#changed = true
    this.#pages[index]![at % PAGE]! += change
  }

  /** The edited counters. */
  seal(base: Counts): Counts {
    return this.#changed ? { pages: this.#pages } : base
  }
}
