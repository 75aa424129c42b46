/**
 * A process of the simulation: fibers that share a clock and a scheduler, and that can be killed or
 * paused between any two steps of theirs.
 *
 * 1. After `kill` no step runs, no timer fires and no finalizer either: it is `kill -9`.
 * 2. While paused nothing runs; what became ready, and timers that came due, run at `resume`.
 * 3. The wall clock may jump; the monotonic clock and all timers do not.
 */
import { Clock, Context, Duration, Effect, type Fiber, Logger, Random, Scheduler } from "effect"
import { type VirtualTime, wallOriginMillis } from "./virtual-time.ts"

/** Whether a process runs. */
export type ProcessState = "running" | "paused" | "killed"

interface Held {
  readonly run: () => void
  readonly priority: number
}

const microsPerMilli = 1_000

/** What a process runs on. */
export interface ProcessOptions {
  readonly time: VirtualTime
  readonly random: Random.Random
  readonly logger: Logger.Logger<unknown, void>
}

/** A process; see the module comment. */
export class SimulatedProcess {
  readonly #options: ProcessOptions
  readonly #time: VirtualTime
  readonly #held: Array<Held> = []
  #state: ProcessState = "running"
  #wallOffsetMillis = 0
  #stepsLeft = Number.POSITIVE_INFINITY
  #onLastStep: () => void = () => undefined

  constructor(options: ProcessOptions) {
    this.#options = options
    this.#time = options.time
  }

  get state(): ProcessState {
    return this.#state
  }

  /** Ends the process at once, wherever its fibers are. */
  kill(): void {
    this.#state = "killed"
    this.#held.length = 0
  }

  /** Calls back in place of the step after so many more: the way to be killed between any two. */
  afterSteps(steps: number, callback: () => void): void {
    this.#stepsLeft = steps
    this.#onLastStep = callback
  }

  pause(): void {
    if (this.#state === "running") this.#state = "paused"
  }

  resume(): void {
    if (this.#state !== "paused") return
    this.#state = "running"
    for (const { priority, run } of this.#held.splice(0)) this.#schedule(run, priority)
  }

  /** Lets the wall clock jump to so far before or behind the right time. */
  setWallClock(offsetMillis: number): void {
    this.#wallOffsetMillis = offsetMillis
  }

  /** Runs an effect as a fiber of this process. */
  fork<A, E>(effect: Effect.Effect<A, E>): Fiber.Fiber<A, E> {
    return Effect.runForkWith(this.#context)(Effect.andThen(Effect.yieldNow, effect))
  }

  readonly #schedule = (run: () => void, priority: number): void => {
    switch (this.#state) {
      case "killed":
        return
      case "paused":
        this.#held.push({ run, priority })
        return
      case "running":
        this.#time.ready(() => {
          if (this.#state === "running") this.#countStep()
          if (this.#state === "running") run()
          else this.#schedule(run, priority)
        }, priority)
    }
  }

  #countStep(): void {
    this.#stepsLeft -= 1
    if (this.#stepsLeft >= 0) return
    this.#stepsLeft = Number.POSITIVE_INFINITY
    this.#onLastStep()
  }

  readonly #scheduler: Scheduler.Scheduler = {
    executionMode: "async",
    // A fiber that another process resumed stops here at its next step when its own may not run.
    shouldYield: (fiber) =>
      this.#state !== "running" || fiber.currentOpCount >= fiber.cache.maxOpsBeforeYield,
    makeDispatcher: () => ({ scheduleTask: this.#schedule, flush: () => undefined })
  }

  readonly #wallMillis = (): number =>
    wallOriginMillis + this.#wallOffsetMillis + Math.floor(this.#time.nowMicros / microsPerMilli)

  readonly #monotonicNanos = (): bigint => BigInt(this.#time.nowMicros) * 1_000n

  readonly #wallNanos = (): bigint =>
    BigInt(wallOriginMillis + this.#wallOffsetMillis) * 1_000_000n + this.#monotonicNanos()

  readonly #sleep = (duration: Duration.Duration): Effect.Effect<void> => {
    const millis = Duration.toMillis(duration)
    if (millis <= 0) return Effect.yieldNow
    if (!Number.isFinite(millis)) return Effect.never
    return Effect.callback<void>((resume) => {
      const timer = this.#time.after(millis * microsPerMilli, () =>
        this.#schedule(() => resume(Effect.void), 0)
      )
      return Effect.sync(() => {
        timer.isCancelled = true
      })
    })
  }

  readonly #clock: Clock.Clock = {
    currentTimeMillisUnsafe: this.#wallMillis,
    currentTimeMillis: Effect.sync(this.#wallMillis),
    currentTimeNanosUnsafe: this.#wallNanos,
    currentTimeNanos: Effect.sync(this.#wallNanos),
    monotonicTimeNanosUnsafe: this.#monotonicNanos,
    monotonicTimeNanos: Effect.sync(this.#monotonicNanos),
    sleep: this.#sleep
  }

  get #context(): Context.Context<never> {
    return Context.empty().pipe(
      Context.add(Clock.Clock, this.#clock),
      Context.add(Scheduler.Scheduler, this.#scheduler),
      Context.add(Random.Random, this.#options.random),
      Context.add(Logger.CurrentLoggers, new Set([this.#options.logger]))
    )
  }
}
