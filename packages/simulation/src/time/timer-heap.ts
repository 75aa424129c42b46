/** Timers by the time they are due; those of one time in the order in which they were set. */

/** A timer that waits. */
export interface Timer {
  readonly dueMicros: number
  readonly order: number
  isCancelled: boolean
  readonly fire: () => void
}

const isBefore = (left: Timer, right: Timer): boolean =>
  left.dueMicros === right.dueMicros ? left.order < right.order : left.dueMicros < right.dueMicros

/** A binary heap of timers; add and take are O(log n). */
export class TimerHeap {
  readonly #timers: Array<Timer> = []

  get size(): number {
    return this.#timers.length
  }

  /** The earliest timer that is not cancelled; cancelled ones before it are let go. */
  peek(): Timer | undefined {
    for (;;) {
      const [first] = this.#timers
      if (first === undefined || !first.isCancelled) return first
      this.take()
    }
  }

  add(timer: Timer): void {
    const timers = this.#timers
    let at = timers.push(timer) - 1
    while (at > 0) {
      const parent = (at - 1) >>> 1
      if (!isBefore(timers[at]!, timers[parent]!)) return
      this.#swap(at, parent)
      at = parent
    }
  }

  take(): Timer | undefined {
    const timers = this.#timers
    const first = timers[0]
    const last = timers.pop()
    if (last === undefined || last === first) return first
    timers[0] = last
    this.#sink()
    return first
  }

  #sink(): void {
    const timers = this.#timers
    for (let at = 0; ;) {
      const left = 2 * at + 1
      const right = left + 1
      let least = at
      if (left < timers.length && isBefore(timers[left]!, timers[least]!)) least = left
      if (right < timers.length && isBefore(timers[right]!, timers[least]!)) least = right
      if (least === at) return
      this.#swap(at, least)
      at = least
    }
  }

  #swap(one: number, other: number): void {
    const kept = this.#timers[one]!
    this.#timers[one] = this.#timers[other]!
    this.#timers[other] = kept
  }
}
