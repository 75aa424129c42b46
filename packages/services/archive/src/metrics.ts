/** What the pipeline counts. */
import { Effect, Metric } from "effect"

const segments = Metric.counter("holdfast_archive_segments_stored_total", {
  description: "Segments durable on their devices, committed and sealed.",
  incremental: true
})
const records = Metric.counter("holdfast_archive_records_stored_total", {
  description: "Records in stored segments.",
  incremental: true
})
const failures = Metric.counter("holdfast_archive_store_failures_total", {
  description: "Attempts at storing a segment that failed.",
  incremental: true
})

/** Shows every counter from the start: what has not happened yet is 0, not absent. */
export const declareMetrics: Effect.Effect<void> = Effect.forEach(
  [segments, records, failures],
  (counter) => Metric.value(counter),
  { discard: true }
)

/** One more segment is stored. */
export const segmentsStored = Metric.update(segments, 1)
/** So many more records are stored. */
export const storedRecords = (count: number) => Metric.update(records, count)
/** An attempt failed. */
export const storeFailures = Metric.update(failures, 1)
