/** What the metadata service shows of itself to a scraper; names and units as they are scraped. */
import { openDraft, repairClasses, status, type State } from "@holdfast/chunk-map"
import { Effect, Metric } from "effect"

/** Committed chunks by how well they are held. */
export const chunksByHealth = Metric.gauge("holdfast_metadata_chunks", {
  description: "committed chunks, by how well they are held"
})

/** Chunks that wait for a copy, by how urgent it is. */
export const repairWaiting = Metric.gauge("holdfast_metadata_repair_waiting", {
  description: "chunks that wait for a copy, by urgency"
})

/** Copies from device to device under way. */
export const repairCopies = Metric.gauge("holdfast_metadata_repair_copies", {
  description: "copies from device to device under way"
})

/** Deletions that no device has acknowledged. */
export const pendingDeletions = Metric.gauge("holdfast_metadata_pending_deletions", {
  description: "deletions that are not acknowledged"
})

/** Age of the oldest of them. */
export const oldestDeletion = Metric.gauge("holdfast_metadata_oldest_deletion_seconds", {
  description: "how long the oldest deletion has waited for its acknowledgement"
})

/** Devices by state. */
export const devicesByState = Metric.gauge("holdfast_metadata_devices", {
  description: "devices, by state"
})

/** Whether safe mode is on. */
export const safeModeOn = Metric.gauge("holdfast_metadata_safe_mode", {
  description: "1 while safe mode is on, else 0"
})

/** What is kept in mind beside the chunks: reservations, freed chunks, unknown copies. */
export const keptInMind = Metric.gauge("holdfast_metadata_pending", {
  description: "reservations that are open, freed chunks with copies left, copies in quarantine"
})

/** Hosts by state. */
export const hostsByState = Metric.gauge("holdfast_metadata_hosts", {
  description: "chunk servers, by state"
})

/** Whether facts can be made durable. */
export const journalWritable = Metric.gauge("holdfast_metadata_journal_writable", {
  description: "1 while the journal takes entries, 0 while it refuses them"
})

/** Broken invariants. */
export const brokenInvariants = Metric.gauge("holdfast_metadata_broken_invariants", {
  description: "broken invariants that the latest judgement found; anything but 0 is a defect"
})

type Gauge = typeof chunksByHealth

const setAll = (gauge: Gauge, label: string, values: Readonly<Record<string, number>>) =>
  Effect.forEach(
    Object.entries(values),
    ([name, value]) => Metric.update(Metric.withAttributes(gauge, { [label]: name }), value),
    { discard: true }
  )

/** Shows what the loop around the state has come to. */
export const showLoop = (loop: {
  readonly canWrite: boolean
  readonly violations: number
}): Effect.Effect<void> =>
  Effect.andThen(
    Metric.update(journalWritable, loop.canWrite ? 1 : 0),
    Metric.update(brokenInvariants, loop.violations)
  )

/** Shows a state. O(replica sets + pending deletions). */
export const showState = (state: State): Effect.Effect<void> =>
  Effect.suspend(() => {
    const { chunks, devices, hosts, pending, repair, safeMode } = status(
      openDraft(state, state.now)
    )
    const { known: _known, atGoal, badlySpread, ...rest } = chunks
    const health = { atGoal: atGoal - badlySpread, badlySpread, ...rest }
    const { freed, quarantined, reservations } = pending
    const waiting = Object.fromEntries(repairClasses.map((name) => [name, repair[name]]))
    return Effect.all(
      [
        setAll(chunksByHealth, "health", health),
        setAll(repairWaiting, "urgency", waiting),
        setAll(devicesByState, "state", devices),
        setAll(hostsByState, "state", hosts),
        setAll(keptInMind, "kind", { freed, quarantined, reservations }),
        Metric.update(repairCopies, pending.copies),
        Metric.update(pendingDeletions, pending.deletions),
        Metric.update(oldestDeletion, pending.oldestDeletionMs / 1_000),
        Metric.update(safeModeOn, safeMode.phase === "off" ? 0 : 1)
      ],
      { discard: true }
    )
  })
