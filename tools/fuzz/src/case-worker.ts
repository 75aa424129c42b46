/**
 * Runs the cases of the in-process targets in a thread of its own, so that a hang can be seen from
 * outside. What it does now stands in shared memory: the target's index and the number of the case.
 */
import { parentPort, workerData } from "node:worker_threads"
import { randomOf } from "./random.ts"
import type { Target } from "./target.ts"

/** How the thread is started. */
export interface CaseWork {
  /** The address of a module that exports its `targets`. */
  readonly module: string
  readonly seed: string
  /** How long, from the first case on, in milliseconds. */
  readonly forMs: number
  readonly only: string | undefined
  readonly from: number
  readonly cases: number
  readonly shared: SharedArrayBuffer
}

/** What the thread says. */
export type CaseReport =
  | { readonly _tag: "Fault"; readonly target: string; readonly at: number; readonly text: string }
  | { readonly _tag: "Done"; readonly counts: ReadonlyArray<readonly [string, number]> }

interface TargetModule {
  readonly targets: ReadonlyArray<Target>
}

/** More than this for one input, in bytes, is memory that an enemy commands. */
const growthMax = 128 * 1024 * 1024
/** How long one target is tried before the next one has its turn, in milliseconds. */
const turnMs = 100

const inUse = (): number => {
  const { arrayBuffers, heapUsed } = process.memoryUsage()
  return arrayBuffers + heapUsed
}

/** Runs one case; answers what is wrong with how it ended. */
const faultOf = async (target: Target, seed: string, at: number): Promise<string | undefined> => {
  const before = inUse()
  try {
    await target.run(randomOf(`${seed}/${target.name}/${at}`))
  } catch (error) {
    return error instanceof Error ? (error.stack ?? error.message) : String(error)
  }
  const grown = inUse() - before
  return grown > growthMax ? `one input took ${Math.round(grown / 1024 ** 2)} MiB` : undefined
}

const work = async (options: CaseWork): Promise<CaseReport> => {
  const { targets: all } = (await import(options.module)) as TargetModule
  const progress = new Int32Array(options.shared)
  const targets = all.filter(({ name }) => [undefined, name].includes(options.only))
  for (const target of targets) await target.prepare?.()
  const next = new Map(targets.map(({ name }) => [name, options.from]))
  const last = options.from + options.cases
  const until = performance.now() + options.forMs
  while (performance.now() < until && [...next.values()].some((at) => at < last)) {
    for (const target of targets) {
      Atomics.store(progress, 0, all.indexOf(target))
      const turnEnds = Math.min(until, performance.now() + turnMs * (target.turns ?? 1))
      let at = next.get(target.name) ?? last
      for (; at < last && performance.now() < turnEnds; at += 1) {
        Atomics.store(progress, 1, at)
        Atomics.add(progress, 2, 1)
        const text = await faultOf(target, options.seed, at)
        if (text !== undefined) return { _tag: "Fault", target: target.name, at, text }
      }
      next.set(target.name, at)
    }
  }
  const counts = [...next].map(([name, at]) => [name, at - options.from] as const)
  return { _tag: "Done", counts }
}

if (parentPort !== null) {
  const port = parentPort
  void work(workerData as CaseWork).then((report) => port.postMessage(report))
}
