/**
 * Virtual time: one queue of tasks, one heap of timers, no waiting.
 *
 *     tasks ready? ──yes──▶ run them, in rounds, in order
 *         └────no────▶ the clock jumps to the next timer ──▶ its task is ready
 *
 * 1. Nothing runs but through here: no timer, microtask or promise of the platform takes part.
 * 2. Tasks of one round run by priority, then in the order in which they became ready.
 * 3. Time stands still while tasks run; more than `tasksPerInstantMax` of them are a livelock.
 * 4. The same tasks in the same order give the same run, on any machine.
 */
import { type Timer, TimerHeap } from "./timer-heap.ts"

/** Where virtual time begins on the wall: 2026-01-01, in milliseconds since 1970. */
export const wallOriginMillis = 1_767_225_600_000

const tasksPerInstantMax = 2_000_000

/** Tasks ran on and on without any time passing. */
export class Livelock extends Error {
  override readonly name = "Livelock"
}

interface Task {
  readonly priority: number
  readonly run: () => void
}

/** The loop that runs a simulation. */
export class VirtualTime {
  readonly #timers = new TimerHeap()
  #ready: Array<Task> = []
  #nowMicros = 0
  #order = 0
  #tasksRun = 0
  #tasksAtInstant = 0

  /** Microseconds since the simulation began. */
  get nowMicros(): number {
    return this.#nowMicros
  }

  /** Tasks that have run. */
  get tasksRun(): number {
    return this.#tasksRun
  }

  /** Makes a task ready. */
  ready(run: () => void, priority = 0): void {
    this.#ready.push({ priority, run })
  }

  /** Calls back after some microseconds of virtual time. */
  after(micros: number, fire: () => void): Timer {
    this.#order += 1
    const timer = {
      dueMicros: this.#nowMicros + Math.max(1, Math.ceil(micros)),
      order: this.#order,
      isCancelled: false,
      fire
    }
    this.#timers.add(timer)
    return timer
  }

  /** Runs until `isDone` or until nothing is left to run or to wait for. */
  run(isDone: () => boolean): void {
    while (!isDone()) {
      if (this.#ready.length > 0) this.#runRound()
      else if (!this.#jump()) return
    }
  }

  #runRound(): void {
    const round = this.#ready
    this.#ready = []
    if (round.some(({ priority }) => priority !== 0)) {
      round.sort((left, right) => left.priority - right.priority)
    }
    this.#tasksRun += round.length
    this.#tasksAtInstant += round.length
    if (this.#tasksAtInstant > tasksPerInstantMax) {
      throw new Livelock(`${this.#tasksAtInstant} tasks ran at ${this.#nowMicros} µs`)
    }
    for (const { run } of round) run()
  }

  #jump(): boolean {
    const timer = this.#timers.peek()
    if (timer === undefined) return false
    this.#timers.take()
    if (timer.dueMicros > this.#nowMicros) this.#tasksAtInstant = 0
    this.#nowMicros = timer.dueMicros
    timer.fire()
    return true
  }
}
