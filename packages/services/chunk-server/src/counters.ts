/** What a chunk server has done since it started, as it is scraped. */
import { Effect, Metric } from "effect"

const readsTotal = Metric.counter("holdfast_chunk_server_reads_total", {
  description: "reads that began",
  incremental: true
})
const writtenBytesTotal = Metric.counter("holdfast_chunk_server_written_bytes_total", {
  description: "bytes of copies that became durable",
  incremental: true
})
const scrubbedTotal = Metric.counter("holdfast_chunk_server_scrubbed_total", {
  description: "copies that scrubbing looked at, by what it found",
  incremental: true
})

/** Shows every counter from the start: what has not happened yet is 0, not absent. */
export const declareCounters: Effect.Effect<void> = Effect.gen(function* () {
  yield* Metric.value(readsTotal)
  yield* Metric.value(writtenBytesTotal)
  yield* Metric.value(Metric.withAttributes(scrubbedTotal, { outcome: "checked" }))
})

/** A read has begun. */
export const countRead = Metric.update(readsTotal, 1)

/** A copy of so many bytes is durable. */
export const countWritten = (bytes: number): Effect.Effect<void> =>
  Metric.update(writtenBytesTotal, bytes)

/** A pass of scrubbing has ended. */
export const countScrubbed = (pass: {
  readonly checked: number
  readonly bad: number
  readonly failed: number
}): Effect.Effect<void> =>
  Effect.forEach(
    Object.entries(pass),
    ([outcome, count]) => Metric.update(Metric.withAttributes(scrubbedTotal, { outcome }), count),
    { discard: true }
  )
