/** Runs the in-process targets in a thread and watches it: a case that hangs is a fault. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Worker } from "node:worker_threads"
import type { CaseReport, CaseWork } from "./case-worker.ts"
import type { Target } from "./target.ts"

/** How long one case may take, in milliseconds, a busy machine included. */
const caseMsMaxDefault = 10_000
const heapMiBMax = 768

/** Which cases, of the targets of which module. */
export interface InProcessOptions extends Omit<CaseWork, "shared"> {
  /** The same targets as the module's. */
  readonly targets: ReadonlyArray<Target>
  /** How long one case may take, in milliseconds. */
  readonly caseMsMax?: number
}

/** Runs cases for a while, or so many of each target; answers the counts or the fault. */
export const runInProcess = ({
  caseMsMax = caseMsMaxDefault,
  targets,
  ...work
}: InProcessOptions): Promise<CaseReport> => {
  const shared = new SharedArrayBuffer(12)
  // A thread that is ended leaves its files behind, so they all stand in one folder.
  const folder = mkdtempSync(join(tmpdir(), "holdfast-fuzz-"))
  const progress = new Int32Array(shared)
  const worker = new Worker(join(import.meta.dirname, "case-worker.ts"), {
    workerData: { ...work, shared } satisfies CaseWork,
    env: { ...process.env, TMPDIR: folder },
    execArgv: ["--conditions=@holdfast/source", "--disable-warning=ExperimentalWarning"],
    resourceLimits: { maxOldGenerationSizeMb: heapMiBMax }
  })
  const fault = (text: string): CaseReport => ({
    _tag: "Fault",
    target: targets[Atomics.load(progress, 0)]?.name ?? "",
    at: Atomics.load(progress, 1),
    text
  })
  return new Promise((resolve) => {
    let seen = 0
    let since = performance.now()
    const watch = setInterval(() => {
      const now = Atomics.load(progress, 2)
      if (now !== seen) since = performance.now()
      seen = now
      if (seen > 0 && performance.now() - since > caseMsMax) {
        end(fault(`no end within ${caseMsMax} ms`))
      }
    }, 250)
    let isOver = false
    const end = (report: CaseReport): void => {
      // A thread that is ended says so, too.
      if (isOver) return
      isOver = true
      clearInterval(watch)
      void worker.terminate().then(() => {
        rmSync(folder, { recursive: true, force: true })
        resolve(report)
      })
    }
    worker.on("message", (report: CaseReport) => end(report))
    worker.on("error", (error: Error) => end(fault(`the thread died: ${error.message}`)))
    worker.on("exit", (status) => end(fault(`the thread ended with ${status}`)))
  })
}
