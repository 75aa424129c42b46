/** What a chunk server is told when it starts, with sound values for the rest. */
import type { HostId, MacRing } from "@holdfast/wire"
import { Duration, type Option } from "effect"

/** A directory to serve. */
export interface DeviceOptions {
  readonly directory: string
  /** Bytes of its disk that are never written. */
  readonly reservedBytes: number
  /** A smaller capacity than the disk has. */
  readonly capacityBytes: Option.Option<number>
}

/** Who the server is, what it serves and where it listens. */
export interface ChunkServerOptions {
  readonly clusterId: string
  readonly hostId: HostId
  /** Rises with each start of this host's process. */
  readonly incarnation: number
  /** HMAC-SHA-256 with the cluster's keys. */
  readonly ring: MacRing
  readonly listen: { readonly host: string; readonly port: number }
  /** The base URL to tell others; absent for the one that is listened on. */
  readonly advertisedUrl?: string
  /** Where it stands; absent where racks are not told apart. */
  readonly rack?: string
  readonly devices: ReadonlyArray<DeviceOptions>
  readonly settings?: Partial<ChunkServerSettings>
}

/** Times, rates and bounds. */
export interface ChunkServerSettings {
  /** The time between heartbeats until the metadata service says another. */
  readonly heartbeat: Duration.Duration
  /** How long one call to the metadata service may take. */
  readonly callDeadline: Duration.Duration
  /** The longest pause between attempts to reach the metadata service. */
  readonly backoffMax: Duration.Duration
  /** The pause before a directory that could not be opened is tried again. */
  readonly reopen: Duration.Duration
  /** Transfers at a time. */
  readonly transfersMax: number
  /** Commands of one kind that run at a time, all devices together. */
  readonly copiesMax: number
  readonly deletionsMax: number
  readonly verificationsMax: number
  /** Commands of one kind that wait; one more is answered as failed. */
  readonly commandsWaitingMax: number
  /** The longest pause between the bytes of a copy from another server. */
  readonly transferDeadline: Duration.Duration
  /** In this time every copy is read and checked once. */
  readonly scrubPeriod: Duration.Duration
  /** Bytes a second that scrubbing reads at most, on each device. */
  readonly scrubBytesPerSecondMax: number
  /** How long stopping may take for the last heartbeat. */
  readonly goodbyeDeadline: Duration.Duration
  /** How often the metrics are brought up to date. */
  readonly showEvery: Duration.Duration
}

/** Sound values for a cluster of tens of machines. */
export const defaultSettings: ChunkServerSettings = {
  heartbeat: Duration.seconds(1),
  callDeadline: Duration.seconds(5),
  backoffMax: Duration.seconds(10),
  reopen: Duration.seconds(10),
  transfersMax: 128,
  copiesMax: 8,
  deletionsMax: 8,
  verificationsMax: 1,
  commandsWaitingMax: 1_000,
  transferDeadline: Duration.seconds(15),
  scrubPeriod: Duration.days(14),
  scrubBytesPerSecondMax: 20 * 1024 * 1024,
  goodbyeDeadline: Duration.seconds(2),
  showEvery: Duration.seconds(5)
}
