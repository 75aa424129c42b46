/** What chunk servers tell the metadata service, and the commands it answers with. */
import { ChunkDescription, ChunkName, ChunkTarget } from "@holdfast/storage"
import { Schema } from "effect"
import { Count, DeviceId, HostId, RackName } from "./identifiers.ts"
import { operation } from "./operation.ts"

/** Order-independent sum of a device's copies; see the chunk map's digest. */
export const CopiesDigest = Schema.Struct({ count: Count, low: Count, high: Count })
/** Order-independent sum of a device's copies. */
export type CopiesDigest = typeof CopiesDigest.Type

/** One device's figures in a heartbeat. */
export const DeviceFigures = Schema.Struct({
  deviceId: DeviceId,
  epoch: Count,
  capacity: Count,
  used: Count,
  available: Count,
  digest: CopiesDigest
})
/** One device's figures in a heartbeat. */
export type DeviceFigures = typeof DeviceFigures.Type

/** What a chunk server is told to do; ids are never used twice. */
export const ChunkCommand = Schema.TaggedUnion({
  /** Read the chunk from the source and store it on this server's device. */
  Copy: {
    commandId: Schema.String,
    deviceId: DeviceId,
    chunk: ChunkDescription,
    source: ChunkTarget,
    deadlineMs: Count
  },
  /** Remove this version; one that is not there counts as removed. */
  Delete: {
    commandId: Schema.String,
    deviceId: DeviceId,
    chunk: ChunkName,
    deadlineMs: Count
  },
  /** Read the whole copy and check it. */
  Verify: {
    commandId: Schema.String,
    deviceId: DeviceId,
    chunk: ChunkName,
    deadlineMs: Count
  }
})
/** What a chunk server is told to do. */
export type ChunkCommand = typeof ChunkCommand.Type

/** What became of a command; repeated in each heartbeat until it is confirmed. */
export const CommandOutcome = Schema.Struct({
  commandId: Schema.String,
  deviceId: DeviceId,
  epoch: Count,
  outcome: Schema.TaggedUnion({
    Done: { chunk: Schema.optionalKey(ChunkDescription) },
    /** The copy is bad: a checksum, its header, its length. */
    Corrupt: { reason: Schema.String },
    /** It could not be carried out now. */
    Failed: { code: Schema.String, reason: Schema.String }
  })
})
/** What became of a command. */
export type CommandOutcome = typeof CommandOutcome.Type

/** A change since the last confirmed heartbeat, outside any command. */
export const CopyChange = Schema.TaggedUnion({
  Added: { deviceId: DeviceId, epoch: Count, chunk: ChunkDescription },
  /** Scrubbing or a read found it bad. */
  Bad: { deviceId: DeviceId, epoch: Count, chunk: ChunkName, reason: Schema.String }
})
/** A change since the last confirmed heartbeat. */
export type CopyChange = typeof CopyChange.Type

const listMax = 1_000

/**
 * A chunk server's sign of life. `sequence` rises with each one of an incarnation; outcomes and
 * changes are repeated until a reply confirms a sequence at or above theirs.
 * Errors: `stale-incarnation` (a newer process of this host is alive), `other-cluster`.
 */
export const heartbeat = operation({
  service: "metadata",
  name: "heartbeat",
  request: Schema.Struct({
    hostId: HostId,
    incarnation: Count,
    url: Schema.String,
    /** Where the server stands; absent where racks are not told apart. */
    rack: Schema.optionalKey(RackName),
    sequence: Count,
    devices: Schema.Array(DeviceFigures).check(Schema.isMaxLength(256)),
    outcomes: Schema.Array(CommandOutcome).check(Schema.isMaxLength(listMax)),
    changes: Schema.Array(CopyChange).check(Schema.isMaxLength(listMax)),
    /** The server is about to stop: count its copies out at once. */
    goodbye: Schema.Boolean
  }),
  response: Schema.Struct({
    confirmed: Count,
    commands: Schema.Array(ChunkCommand),
    /** Devices whose full report is wanted, with a lease to send it. */
    reportsWanted: Schema.Array(
      Schema.Struct({ deviceId: DeviceId, lease: Schema.String, leaseMs: Count })
    ),
    /** Devices this host may not serve, with why (for example live on another host). */
    refused: Schema.Array(Schema.Struct({ deviceId: DeviceId, reason: Schema.String })),
    /** When the next heartbeat is due. */
    intervalMs: Count,
    /** The service's time, by which capabilities expire; seconds since 1970. */
    seconds: Schema.optionalKey(Schema.Int)
  })
})

/**
 * One part of a device's full report: its copies packed (see copy-list) in the attachment, in
 * (file id, chunk id, version) order. Idempotent by (device, epoch, report id, part).
 * Errors: `lease-expired`, `stale-incarnation`, `device-live-elsewhere`, `stale-epoch`,
 * `out-of-order`, `invalid-request`.
 */
export const online = operation({
  service: "metadata",
  name: "online",
  request: Schema.Struct({
    hostId: HostId,
    incarnation: Count,
    url: Schema.String,
    deviceId: DeviceId,
    epoch: Count,
    lease: Schema.String,
    reportId: Schema.String,
    part: Count,
    last: Schema.Boolean,
    damaged: Count
  }),
  response: Schema.Struct({ accepted: Count })
})
