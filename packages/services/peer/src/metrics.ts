/** What a peer counts; names and units as they are scraped. */
import { Effect, Metric } from "effect"

/** Requests of clients by how they ended: `ok` or the code of the refusal. */
export const requestsTotal = Metric.counter("holdfast_peer_requests_total", {
  description: "requests run on this peer's partitions, by outcome",
  incremental: true
})

/** Jobs stepped. */
export const jobsTotal = Metric.counter("holdfast_peer_jobs_total", {
  description: "jobs on partitions",
  incremental: true
})

/** Commits of the store; jobs by commits is what batching gains. */
export const commitsTotal = Metric.counter("holdfast_peer_commits_total", {
  description: "commits of the partition store",
  incremental: true
})

/** States sent to other peers, by what they made of them. */
export const statesSentTotal = Metric.counter("holdfast_peer_states_sent_total", {
  description: "partition states sent to other peers, by outcome",
  incremental: true
})

/** Rounds of comparison, by how they ended. */
export const roundsTotal = Metric.counter("holdfast_peer_rounds_total", {
  description: "rounds of comparison with another peer, by outcome",
  incremental: true
})

/** Partitions in memory. */
export const residentPartitions = Metric.gauge("holdfast_peer_resident_partitions", {
  description: "partitions in memory"
})

/** Partitions whose stored bytes cannot be read. */
export const quarantinedPartitions = Metric.gauge("holdfast_peer_quarantined_partitions", {
  description: "stored partitions that cannot be read and wait to be fetched again"
})

/** Shows every counter from the start: what has not happened yet is 0, not absent. */
export const declareMetrics: Effect.Effect<void> = Effect.gen(function* () {
  const ok = { outcome: "ok" }
  yield* Metric.value(jobsTotal)
  yield* Metric.value(commitsTotal)
  yield* Metric.value(Metric.withAttributes(requestsTotal, ok))
  yield* Metric.value(Metric.withAttributes(roundsTotal, ok))
  yield* Metric.value(Metric.withAttributes(statesSentTotal, { outcome: "same" }))
})

/** Counts one of a counter with an outcome. */
export const countOutcome = (counter: typeof requestsTotal, outcome: string): Effect.Effect<void> =>
  Metric.update(Metric.withAttributes(counter, { outcome }), 1)
