/** A child of a test's daemon in this process, with a stage that the test lets go on by hand. */
import { MemoryNetwork } from "@holdfast/adapter-memory"
import { parseWorkerConfig, recordStage } from "@holdfast/service-worker"
import { Cause, Effect, Exit, Fiber, Result } from "effect"
import { vi } from "vitest"
import {
  type DaemonOptions,
  TestDaemon
} from "../../../../packages/adapters/multilang/src/testing/daemon.ts"
import { childSettings, multiLangWorker } from "../multilang-worker.ts"

const decoder = new TextDecoder()

/** Settings with short intervals. */
export const quickSettings = {
  pullWaitMs: 50,
  heartbeatIntervalMs: 50,
  checkpointIntervalMs: 10,
  drainDeadlineMs: 300,
  callDeadlineMs: 2_000,
  leaseRenewalMs: 10,
  discoveryIntervalMs: 10,
  leaseTermMs: 5_000,
  leaseMarginMs: 1_000
}

/** Starts a daemon and its child; records are done when the test says so, by their data. */
export const startChild = Effect.fnUntraced(function* (
  options: DaemonOptions & {
    readonly settings?: Readonly<Record<string, unknown>>
    /** Finish every record at once. */
    readonly isPrompt?: boolean
  }
) {
  const daemon = new TestDaemon(options)
  const started: Array<string> = []
  const waiting = new Map<string, () => void>()
  const pipeline = recordStage(
    ({ record }) => {
      const name = decoder.decode(record.data)
      started.push(name)
      if (options.isPrompt === true) return undefined
      return new Promise<void>((resolve) => waiting.set(name, resolve))
    },
    { concurrency: 1_000 }
  )
  const names = { cluster: "c1", worker: "w1" }
  const fiber = yield* multiLangWorker({
    config: Result.getOrThrow(
      parseWorkerConfig({ ...childSettings, ...quickSettings, ...options.settings, ...names })
    ),
    ...daemon.childPipes,
    stream: "orders",
    pipeline
  }).pipe(Effect.provide(MemoryNetwork.layerAlone()), Effect.forkChild)
  yield* Effect.promise(() => daemon.initialize())
  return {
    daemon,
    fiber,
    started,
    /** Waits until so many records were begun. */
    begun: (count: number) => until(() => started.length >= count),
    /** Lets records be done. */
    finish: (...names: ReadonlyArray<string>) =>
      Effect.sync(() => names.forEach((name) => waiting.get(name)?.())),
    /** Closes the input and answers how the child ended: a sentence where it failed. */
    close: Effect.suspend(() => {
      daemon.close()
      return endOf(fiber)
    }),
    ended: endOf(fiber)
  }
})

const endOf = <E>(fiber: Fiber.Fiber<void, E>): Effect.Effect<string | undefined> =>
  Effect.map(Fiber.await(fiber), (exit) =>
    Exit.isSuccess(exit) ? undefined : String(Cause.squash(exit.cause))
  )

/** Waits for a condition that something else brings about. */
export const until = (condition: () => boolean): Effect.Effect<void> =>
  Effect.promise(() =>
    vi.waitFor(
      () => {
        if (!condition()) throw new Error("not yet")
      },
      { timeout: 10_000, interval: 5 }
    )
  )

/** Records with the sequence numbers `10, 20, ...` and the data `1, 2, ...`. */
export const numbered = (count: number) =>
  Array.from({ length: count }, (_, at) => ({
    sequenceNumber: (at + 1) * 10,
    data: String(at + 1)
  }))
