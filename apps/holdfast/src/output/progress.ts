/**
 * Progress of long work on standard error: a bar on a terminal, a line every few seconds elsewhere.
 * Standard output stays the command's own.
 */
import { SingleBar } from "cli-progress"
import { Clock, Effect, type Scope } from "effect"

const lineEveryNanos = 5_000_000_000n

/** Reports that the work has come to `done`, in the units that it was opened with. */
export type ReportProgress = (done: number) => Effect.Effect<void>

/** What is being done, and how much of it there is; 0 when that is not known. */
export interface ProgressOptions {
  readonly label: string
  readonly unit: string
  readonly total: number
}

/** Shows the progress of one piece of work until the scope closes. */
export const openProgress = (
  options: ProgressOptions
): Effect.Effect<ReportProgress, never, Scope.Scope> =>
  process.stderr.isTTY && options.total > 0 ? openBar(options) : openLines(options)

const openBar = Effect.fnUntraced(function* (options: ProgressOptions) {
  const bar = yield* Effect.acquireRelease(
    Effect.sync(() => {
      const opened = new SingleBar({
        format: `${options.label} [{bar}] {percentage}%  {value}/{total} ${options.unit}  {rate}/s  {eta_formatted} left`,
        stream: process.stderr,
        barsize: 28,
        hideCursor: true
      })
      opened.start(options.total, 0, { rate: "0" })
      return opened
    }),
    (opened) => Effect.sync(() => opened.stop())
  )
  const started = yield* Clock.monotonicTimeNanos
  return Effect.fnUntraced(function* (done: number) {
    const now = yield* Clock.monotonicTimeNanos
    bar.update(done, { rate: ratePerSecond({ done, nanos: now - started }) })
  })
})

const openLines = Effect.fnUntraced(function* (options: ProgressOptions) {
  const started = yield* Clock.monotonicTimeNanos
  let last = started
  return Effect.fnUntraced(function* (done: number) {
    const now = yield* Clock.monotonicTimeNanos
    if (now - last < lineEveryNanos) return
    last = now
    const of = options.total > 0 ? `/${options.total}` : ""
    const rate = ratePerSecond({ done, nanos: now - started })
    yield* sayLine(`${options.label}: ${done}${of} ${options.unit}, ${rate}/s`)
  })
})

/** Says one line on standard error. */
export const sayLine = (line: string): Effect.Effect<void> =>
  Effect.sync(() => {
    process.stderr.write(`${line}\n`)
  })

const ratePerSecond = (progress: { readonly done: number; readonly nanos: bigint }): string =>
  progress.nanos <= 0n
    ? "0"
    : Math.round(progress.done / (Number(progress.nanos) / 1e9)).toLocaleString("en-US")
