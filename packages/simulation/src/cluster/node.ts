/**
 * A node: one process that starts, is killed or stopped, and starts again on the same disks.
 *
 *     start ──▶ up ──kill──▶ down ── after a while ──▶ start
 *                └──stop──▶ stopping ──▶ down
 *
 * 1. A killed node does nothing more: no fiber step, no message, no write. Its unsynced writes are
 *    kept, torn or lost, as the disk's own chance has it.
 * 2. A start that fails is tried again after a second, as whatever supervises a process would.
 * 3. A node that stands outside of the cluster does not run, whoever starts it.
 */
import type { MemoryDisk } from "@holdfast/adapter-memory"
import { Cause, Effect, Exit, type Fiber, type Scope } from "effect"
import type { SimulatedProcess } from "../time/simulated-process.ts"
import type { Site } from "./site.ts"

/** How a node's service is started; `start` counts its lives from 1. */
export interface NodeOptions<Service> {
  readonly name: string
  readonly disks: ReadonlyArray<MemoryDisk>
  readonly start: (start: number) => Effect.Effect<Service, unknown, Scope.Scope>
}

const restartMicros = 1_000_000
/** Longer than every deadline of a stop together. */
const stopMicros = 60_000_000

/** A node as faults and oracles see it. */
export class SimulatedNode<Service> {
  readonly name: string
  readonly disks: ReadonlyArray<MemoryDisk>
  readonly #site: Site
  readonly #options: NodeOptions<Service>
  #process: SimulatedProcess | undefined
  #main: Fiber.Fiber<never, unknown> | undefined
  #service: Service | undefined
  #starts = 0
  #isWanted = false

  constructor(site: Site, options: NodeOptions<Service>) {
    this.name = options.name
    this.disks = options.disks
    this.#site = site
    this.#options = options
  }

  /** The service, while it is up. */
  get service(): Service | undefined {
    return this.#service
  }

  /** Whether its process stands still. */
  get isPaused(): boolean {
    return this.#process?.state === "paused"
  }

  /** How often it has started. */
  get starts(): number {
    return this.#starts
  }

  /** Its name and how often it has started. */
  get life(): string {
    return `${this.name}, life ${this.#starts}`
  }

  get isUp(): boolean {
    return this.#service !== undefined
  }

  /** Whether it is not to run: it has not joined yet, or has left for good. */
  get isOutside(): boolean {
    return this.#site.outside.has(this.name)
  }

  /** Starts it, and keeps it started until it is killed or stopped. */
  start(): void {
    this.#isWanted = true
    if (this.#process === undefined && !this.isOutside) this.#begin()
  }

  /** Ends it between two of its steps, with its disks. */
  kill(): void {
    this.#isWanted = false
    const process = this.#process
    if (process === undefined) return
    this.#site.trace.add(`killed ${this.name}`)
    process.kill()
    this.#forget()
    Effect.runSync(this.#site.network.apply({ _tag: "Crash", node: this.name }))
    for (const disk of this.disks) Effect.runSync(disk.apply({ _tag: "Crash" }))
  }

  /** Kills it in place of one of its next steps. */
  killAfter(steps: number): void {
    const process = this.#process
    process?.afterSteps(steps, () => {
      if (this.#process === process) this.kill()
    })
  }

  /** Takes a kill back that has not come yet. */
  spare(): void {
    this.#process?.afterSteps(Number.POSITIVE_INFINITY, () => undefined)
  }

  /** Ends it in order; what takes too long is a violation. */
  stop(): void {
    this.#isWanted = false
    const process = this.#process
    if (process === undefined) return
    this.#site.trace.add(`stopping ${this.name}`)
    this.#service = undefined
    this.#main?.interruptUnsafe()
    this.#site.time.after(stopMicros, () => {
      if (this.#process !== process) return
      this.#site.report("stop", `${this.name} does not stop within its deadlines`)
    })
  }

  pause(): void {
    this.#process?.pause()
    Effect.runSync(this.#site.network.apply({ _tag: "Stall", node: this.name }))
  }

  resume(): void {
    this.#process?.resume()
    Effect.runSync(this.#site.network.apply({ _tag: "Resume", node: this.name }))
  }

  /** Sets the wall clock so far before or behind the right time; a restart sets it right. */
  setWallClock(offsetMillis: number): void {
    this.#process?.setWallClock(offsetMillis)
  }

  /** Runs an effect inside the node's process; nothing happens when it is down. */
  fork<A, E>(effect: Effect.Effect<A, E>): Fiber.Fiber<A, E> | undefined {
    return this.#process?.fork(effect)
  }

  #forget(): void {
    this.#process = undefined
    this.#main = undefined
    this.#service = undefined
  }

  #begin(): void {
    this.#starts += 1
    const process = this.#site.makeProcess(this.name, this.#starts)
    this.#process = process
    this.#site.trace.add(`starting ${this.name}, life ${this.#starts}`)
    const live = this.#options.start(this.#starts).pipe(
      Effect.tap((service) =>
        Effect.sync(() => {
          this.#site.trace.add(`${this.name} is up`)
          this.#service = service
        })
      ),
      Effect.andThen(Effect.never),
      Effect.scoped
    )
    const main = process.fork(live)
    this.#main = main
    main.addObserver((exit) => {
      if (this.#process === process) this.#ended(process, exit)
    })
  }

  #ended(process: SimulatedProcess, exit: Exit.Exit<never, unknown>): void {
    const why = Exit.isFailure(exit) ? Cause.pretty(exit.cause).split("\n")[0] : ""
    this.#site.trace.add(`ended ${this.name}: ${why}`)
    process.kill()
    this.#forget()
    // What the process may have left behind goes with it, as sockets and locks would.
    Effect.runSync(this.#site.network.apply({ _tag: "Crash", node: this.name }))
    for (const disk of this.disks) Effect.runSync(disk.apply({ _tag: "Crash" }))
    if (!this.#isWanted) return
    this.#site.time.after(restartMicros, () => {
      if (this.#isWanted && this.#process === undefined && !this.isOutside) this.#begin()
    })
  }
}
