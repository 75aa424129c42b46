/**
 * The main job, end to end, on a cluster in this process: archive real data, lose a chunk server
 * and a peer in the middle, repair, read everything back and compare, search.
 *
 *     archives ─▶ ingest ──(part of it archived)──▶ stop a host and a peer ─▶ rest archived
 *              ─▶ copies back at their goal ─▶ read all ─▶ digests ─▶ searches
 *
 * Every step has a deadline; a step that does not come to its end is a failure that says which.
 */
import { ArchiveClient } from "@holdfast/client"
import { type CommandFailure, failure } from "@holdfast/process"
import type { ClusterId } from "@holdfast/wire"
import { join } from "node:path"
import { Clock, Duration, Effect, Schedule, Stream } from "effect"
import { parseTagRules } from "../commands/archive-settings.ts"
import { metadataStatus, workersOf } from "../connection/observe.ts"
import type { EmbeddedCluster } from "../embedded/cluster.ts"
import { openProgress, sayLine } from "../output/progress.ts"
import { appendToSpool } from "../records/append.ts"
import { ingestText } from "../records/ingest.ts"
import { type Dataset, datasetDirectory, datasets, searches } from "./datasets.ts"
import { joinDigests, makeRecordDigest, type RecordDigest } from "./record-digest.ts"

/** What the demonstration found; the JSON of `npm start -- --json`. */
export interface DemonstrationReport {
  readonly records: number
  readonly segments: number
  readonly rawBytes: number
  readonly storedBytes: number
  readonly ingestPerSecond: number
  readonly readPerSecond: number
  readonly belowGoalAfterKill: number
  readonly belowGoalAfterRepair: number
  readonly recordsRead: number
  readonly digestIn: string
  readonly digestOut: string
  readonly searches: ReadonlyArray<{ readonly tag: string; readonly matches: number }>
}

/** Segments small enough that even the demonstration's data makes several dozen. */
const segmentLimits = { bytes: 512 * 1024, records: 1_000_000, ageMs: 1_000 }
const stepDeadline = Duration.seconds(60)
const pollInterval = Duration.millis(200)

const totalRecords = datasets.reduce((sum, { records }) => sum + records, 0)

/** Asks until a condition holds; a step that takes too long is named. */
const until = <A, E, R>(
  step: string,
  ask: Effect.Effect<A, E, R>,
  holds: (value: A) => boolean
): Effect.Effect<A, E | CommandFailure, R> =>
  ask.pipe(
    Effect.repeat({ schedule: Schedule.spaced(pollInterval), until: holds }),
    Effect.timeoutOrElse({
      duration: stepDeadline,
      orElse: () =>
        Effect.fail(failure(`${step} did not happen within ${Duration.toSeconds(stepDeadline)} s`))
    })
  )

const addArchives = Effect.gen(function* () {
  const archives = yield* ArchiveClient
  yield* Effect.forEach(datasets, ({ archive, tags }) =>
    Effect.gen(function* () {
      const rules = yield* parseTagRules(tags)
      yield* archives.add({
        name: archive,
        stream: archive,
        settings: { tags: rules, segments: segmentLimits }
      })
    })
  )
})

const ingestAll = Effect.fnUntraced(function* (cluster: ClusterId) {
  const directory = yield* datasetDirectory
  const digests = new Map<string, RecordDigest>()
  const report = yield* openProgress({ label: "ingest", unit: "records", total: totalRecords })
  let before = 0
  for (const { archive, file, format } of datasets) {
    const digest = makeRecordDigest()
    digests.set(archive, digest)
    before += yield* ingestText({
      name: file,
      from: join(directory, file),
      format,
      subject: archive,
      after: 0n,
      append: yield* appendToSpool({ cluster, stream: archive }),
      onRecord: digest.add,
      onStored: (stored) => report(before + stored)
    })
  }
  return digests
})

/** The positions up to which the archives are checkpointed, added up. */
const checkpointed = (cluster: ClusterId) =>
  Effect.map(workersOf(cluster), (workers) =>
    workers
      .flatMap(({ shards }) => shards)
      .reduce((sum, { checkpoint }) => sum + Number(checkpoint ?? 0n), 0)
  )

/** Stops a host and a peer once a part is archived; answers how many chunks are short then. */
const loseOneOfEach = Effect.fnUntraced(function* (cluster: EmbeddedCluster, name: ClusterId) {
  yield* until("the first segment", metadataStatus(name), ({ chunks }) => chunks.atGoal > 3)
  const [host, peer] = [cluster.hosts.at(-1), cluster.peers.at(-1)]
  if (host === undefined || peer === undefined) return yield* failure("nothing to stop")
  yield* sayLine(`stopping ${host.name} and ${peer.name}`)
  yield* Effect.all([host.stop, peer.stop], { concurrency: 2 })
  const { chunks } = yield* until(
    "the loss of copies",
    metadataStatus(name),
    ({ chunks: now }) => now.belowGoal > 0
  )
  return chunks.belowGoal
})

const readAll = Effect.gen(function* () {
  const archives = yield* ArchiveClient
  const digests = new Map<string, RecordDigest>()
  const report = yield* openProgress({ label: "read back", unit: "records", total: totalRecords })
  let read = 0
  for (const { archive } of datasets) {
    const digest = makeRecordDigest()
    digests.set(archive, digest)
    yield* archives.readBatches({ archive }).pipe(
      Stream.runForEach(({ records }) => {
        for (const { data } of records) digest.add(data)
        read += records.length
        return report(read)
      })
    )
  }
  return { digests, read }
})

const searchAll = Effect.gen(function* () {
  const archives = yield* ArchiveClient
  return yield* Effect.forEach(searches, ({ archive, tag }) =>
    Effect.map(archives.searchCount({ archive, tag }), (matches) => ({
      tag: `${archive} ${tag.name}=${tag.value}`,
      matches
    }))
  )
})

const totals = Effect.gen(function* () {
  const archives = yield* ArchiveClient
  const each = yield* Effect.forEach(datasets, ({ archive }: Dataset) => archives.totals(archive))
  return {
    records: each.reduce((sum, one) => sum + one.records, 0),
    segments: each.reduce((sum, one) => sum + one.segments, 0),
    rawBytes: each.reduce((sum, one) => sum + one.rawBytes, 0),
    storedBytes: each.reduce((sum, one) => sum + one.storedBytes, 0)
  }
})

/** Measures how long an effect takes, in seconds. */
const timed = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const from = yield* Clock.monotonicTimeNanos
    const value = yield* effect
    const to = yield* Clock.monotonicTimeNanos
    return { value, seconds: Number(to - from) / 1e9 }
  })

/** Runs the demonstration on a cluster that was just started. */
export const demonstrate = Effect.fnUntraced(function* (options: {
  readonly cluster: EmbeddedCluster
  readonly name: ClusterId
}) {
  const { cluster, name } = options
  yield* addArchives
  yield* sayLine("archiving three data sets")
  const archived = yield* timed(
    Effect.gen(function* () {
      const [digests, belowGoal] = yield* Effect.all(
        [Effect.scoped(ingestAll(name)), loseOneOfEach(cluster, name)],
        { concurrency: 2 }
      )
      yield* until("archiving everything", checkpointed(name), (sum) => sum >= totalRecords)
      return { digests, belowGoal }
    })
  )
  yield* sayLine("everything is archived; waiting for the copies that were lost")
  const { chunks } = yield* until(
    "the repair",
    metadataStatus(name),
    ({ chunks: now }) => now.belowGoal === 0 && now.unknown === 0 && now.missing === 0
  )
  const back = yield* timed(Effect.scoped(readAll))
  const report: DemonstrationReport = {
    ...(yield* totals),
    ingestPerSecond: Math.round(totalRecords / archived.seconds),
    readPerSecond: Math.round(back.value.read / back.seconds),
    belowGoalAfterKill: archived.value.belowGoal,
    belowGoalAfterRepair: chunks.belowGoal,
    recordsRead: back.value.read,
    digestIn: joinDigests(archived.value.digests),
    digestOut: joinDigests(back.value.digests),
    searches: yield* searchAll
  }
  return report
})

/** What is wrong with a report, or undefined when everything is as it should be. */
export const faultOf = (report: DemonstrationReport): string | undefined => {
  if (report.digestIn !== report.digestOut) return "what was read is not what was archived"
  if (report.recordsRead !== totalRecords) return `${report.recordsRead} records were read back`
  if (report.records !== totalRecords) return `${report.records} records are in the catalogue`
  if (report.searches.some(({ matches }) => matches === 0)) return "a search found nothing"
  return undefined
}
