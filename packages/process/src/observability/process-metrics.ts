/** What every process shows of itself, whatever its service. */
import { monitorEventLoopDelay } from "node:perf_hooks"
import { Effect, Metric, type Scope } from "effect"
import type { Readiness } from "./readiness.ts"
import { holdfastVersion } from "./version.ts"

const readyGauge = Metric.gauge("holdfast_ready", {
  description: "1 while the process is able to serve, else 0"
})
const buildInfo = Metric.gauge("holdfast_build_info", {
  description: "always 1; its labels name service and version"
})
const residentBytes = Metric.gauge("holdfast_process_resident_bytes", {
  description: "memory of the process, in bytes"
})
const heapBytes = Metric.gauge("holdfast_process_heap_used_bytes", {
  description: "memory of the JavaScript heap that is in use, in bytes"
})
const cpuSeconds = Metric.gauge("holdfast_process_cpu_seconds", {
  description: "processor time that the process has used, in seconds"
})
const loopDelay = Metric.gauge("holdfast_process_event_loop_delay_seconds", {
  description: "99 of 100 turns of the event loop came at most so late since the last scrape"
})

const nanosPerSecond = 1e9
const microsPerSecond = 1e6
/** How often the delay of the event loop is sampled, in milliseconds. */
const samplingMs = 20

/** Starts measuring; the answer brings the gauges up to date. */
export const measureProcess = (
  service: string,
  readiness: Readiness
): Effect.Effect<Effect.Effect<void>, never, Scope.Scope> =>
  Effect.gen(function* () {
    const delay = yield* Effect.acquireRelease(
      Effect.sync(() => {
        const monitor = monitorEventLoopDelay({ resolution: samplingMs })
        monitor.enable()
        return monitor
      }),
      (monitor) => Effect.sync(() => monitor.disable())
    )
    const labels = { service, version: holdfastVersion }
    yield* Metric.update(Metric.withAttributes(buildInfo, labels), 1)
    return Effect.gen(function* () {
      const { heapUsed, rss } = process.memoryUsage()
      const { system, user } = process.cpuUsage()
      const late = delay.percentile(99) / nanosPerSecond
      delay.reset()
      yield* Metric.update(residentBytes, rss)
      yield* Metric.update(heapBytes, heapUsed)
      yield* Metric.update(cpuSeconds, (user + system) / microsPerSecond)
      yield* Metric.update(loopDelay, Math.max(0, late - samplingMs / 1_000))
      yield* Metric.update(readyGauge, (yield* readiness.missing).length === 0 ? 1 : 0)
    })
  })
