/**
 * Full reports: everything a device holds, sent in parts under a lease.
 *
 * 1. Parts are read from the device's list as they are sent: no list of copies is held.
 * 2. A part is repeated a few times when its answer does not come; on any other refusal the report
 *    ends, and the next heartbeat brings another lease.
 * 3. The report sets the device's digest; copies that came while it ran, and those that are known
 *    to be bad, are told again after it.
 * 4. The answer to a heartbeat that was sent before a report ended may still ask for that report:
 *    it is passed over. The lease cannot tell: a service that was started again may give the same.
 */
import { type ChunkDescription, type StoredCopy } from "@holdfast/storage"
import type { Messaging } from "@holdfast/messaging"
import {
  copyBytes,
  encodeCopies,
  makeCaller,
  makeRequestId,
  MetadataChunkServerOperations,
  reportPartCopiesMax
} from "@holdfast/wire"
import { Effect, Schedule, Stream } from "effect"
import type { ChunkServerOptions, ChunkServerSettings } from "./options.ts"
import type { ServedDevice } from "./served-device.ts"
import { tellAdded, tellKnownBad, type Telling } from "./telling.ts"

/** Who reports. */
export interface Reporter {
  readonly options: ChunkServerOptions
  readonly settings: ChunkServerSettings
  readonly url: string
  readonly telling: Telling
  /** The transport's largest message. */
  readonly payloadBytesMax: number
  /** The sequence of the last heartbeat. */
  sequence: number
}

/** Bytes of a message that are no copies. */
const envelopeBytesMax = 4_096
/** How often a part is sent again. */
const retriesMax = 5

const callOnline = makeCaller(MetadataChunkServerOperations.online)

/** A report under way. */
interface Report {
  readonly device: ServedDevice
  readonly lease: string
  readonly reportId: string
  part: number
  damaged: number
}

const isRetryable = (error: { readonly _tag: string }): boolean =>
  error._tag === "MessagingError" && "isRetryable" in error && error.isRetryable === true

const sendPart = (
  reporter: Reporter,
  report: Report,
  copies: ReadonlyArray<ChunkDescription>,
  last: boolean
) =>
  Effect.gen(function* () {
    const { options, settings, url } = reporter
    yield* callOnline({
      cluster: options.clusterId,
      request: {
        hostId: options.hostId,
        incarnation: options.incarnation,
        url,
        deviceId: report.device.deviceId,
        epoch: report.device.epoch,
        lease: report.lease,
        reportId: report.reportId,
        part: report.part,
        last,
        damaged: report.damaged
      },
      attachment: encodeCopies(copies),
      deadline: settings.callDeadline,
      requestId: yield* makeRequestId,
      sender: options.hostId
    })
    report.part += 1
  }).pipe(
    Effect.retry({
      while: isRetryable,
      times: retriesMax,
      schedule: Schedule.jittered(Schedule.exponential("100 millis"))
    })
  )

/** The copy to report, or nothing for one that is damaged or that changed meanwhile. */
const reportable = (report: Report, copy: StoredCopy): ReadonlyArray<ChunkDescription> => {
  if (copy._tag === "Damaged") {
    report.damaged += 1
    return []
  }
  const { fileId, chunkId, version, length, checksum } = copy
  const isCounted = report.device.ledger.visit({ fileId, chunkId, version })
  return isCounted ? [{ fileId, chunkId, version, length, checksum }] : []
}

const copiesInPart = (payloadBytesMax: number): number =>
  Math.max(
    1,
    Math.min(reportPartCopiesMax, Math.floor((payloadBytesMax - envelopeBytesMax) / copyBytes))
  )

/** Tells again of copies that came while the report ran: it may have missed them. */
const tellArrivals = Effect.fnUntraced(function* (reporter: Reporter, device: ServedDevice) {
  for (const chunk of device.ledger.endListing()) {
    const described = yield* device.store.describe(chunk).pipe(Effect.option)
    if (described._tag === "Some") tellAdded(reporter.telling, device, described.value)
  }
})

const runReport = Effect.fnUntraced(function* (reporter: Reporter, report: Report) {
  const { device } = report
  device.ledger.beginListing()
  yield* device.store.list.pipe(
    Stream.flatMap((copy) => Stream.fromIterable(reportable(report, copy))),
    Stream.grouped(copiesInPart(reporter.payloadBytesMax)),
    Stream.runForEach((copies) => sendPart(reporter, report, copies, false))
  )
  yield* sendPart(reporter, report, [], true)
  device.reportedAt = reporter.sequence
  yield* tellArrivals(reporter, device)
  tellKnownBad(reporter.telling, device)
  yield* Effect.logInfo(
    `device ${device.deviceId} reported ${device.ledger.digest().count} copies` +
      (report.damaged === 0 ? "" : `, ${report.damaged} damaged files are kept aside`)
  )
})

/** Reports a device under a lease that the last heartbeat brought, unless that is being done. */
export const reportDevice = (
  reporter: Reporter,
  device: ServedDevice,
  lease: string
): Effect.Effect<void, never, Messaging> =>
  Effect.suspend(() => {
    if (device.isReporting || reporter.sequence <= device.reportedAt) return Effect.void
    device.isReporting = true
    return Effect.flatMap(makeRequestId, (reportId) =>
      runReport(reporter, { device, lease, reportId, part: 0, damaged: 0 })
    ).pipe(
      Effect.catchCause((cause) =>
        Effect.logWarning(`the report of device ${device.deviceId} ended early`, cause)
      ),
      Effect.ensuring(
        Effect.sync(() => {
          device.isReporting = false
        })
      )
    )
  })
