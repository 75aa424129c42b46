/**
 * Partitions that are to be looked at again after a fixed time: a line, as the first in is the
 * first due. One that stands in it already keeps its place.
 */
import type { Address } from "./address.ts"
import { addressText } from "./address.ts"

/** A line of partitions, each due after the same time. */
export class DelayLine {
  readonly #waiting = new Map<string, { readonly address: Address; readonly dueAt: number }>()
  readonly #delayMillis: number
  readonly #max: number

  constructor(options: { readonly delayMillis: number; readonly max: number }) {
    this.#delayMillis = options.delayMillis
    this.#max = options.max
  }

  /** Puts a partition at the end, unless the line is full. */
  add(address: Address, now: number): void {
    const text = addressText(address)
    if (this.#waiting.has(text) || this.#waiting.size >= this.#max) return
    this.#waiting.set(text, { address, dueAt: now + this.#delayMillis })
  }

  /** Takes out what is due. */
  takeDue(now: number): ReadonlyArray<Address> {
    const due: Array<Address> = []
    for (const [text, { address, dueAt }] of this.#waiting) {
      if (dueAt > now) break
      this.#waiting.delete(text)
      due.push(address)
    }
    return due
  }
}
