/** What a metadata service is told when it starts, with sound values for the rest. */
import { defaultSettings as defaultMapSettings, type Settings } from "@holdfast/chunk-map"
import type { ClusterId, MacRing } from "@holdfast/wire"

/** Times and bounds of the shell; those of the rules are the chunk map's `Settings`. */
export interface ServiceSettings {
  /** The time between ticks, in milliseconds. */
  readonly tickMs: number
  /** Commands that wait for their turn; one more is answered `overloaded`. */
  readonly waitingMax: number
  /** Commands that one turn takes. */
  readonly turnMax: number
  /** Requests of one operation at a time, and those that wait beyond them. */
  readonly concurrency: number
  readonly backlog: number
  /** How long a command may wait for its turn when its sender does not say. */
  readonly answerMs: number
  /** Bytes of journal after which a snapshot replaces it. */
  readonly compactBytes: number
  /** How long a capability to read lives; one to write lives as long as its lease. */
  readonly readCapabilityMs: number
  /** The time between two judgements of the invariants, and the chunks they look at. */
  readonly invariantsMs: number
  readonly invariantsChunksMax: number
  /** How long stopping may take for commands that wait. */
  readonly drainMs: number
}

/** Sound values for one service of a cluster of tens of machines. */
export const defaultServiceSettings: ServiceSettings = {
  tickMs: 200,
  waitingMax: 20_000,
  turnMax: 1_024,
  concurrency: 1_024,
  backlog: 4_096,
  answerMs: 10_000,
  compactBytes: 64 * 1024 * 1024,
  readCapabilityMs: 10 * 60_000,
  invariantsMs: 60_000,
  invariantsChunksMax: 50_000,
  drainMs: 3_000
}

/** Who the service is and by which numbers it works. */
export interface MetadataOptions {
  readonly clusterId: ClusterId
  /** HMAC-SHA-256 with the cluster's keys. */
  readonly ring: MacRing
  /** The CRC-32 of some bytes. */
  readonly crc32: (bytes: Uint8Array) => number
  readonly map?: Partial<Settings>
  readonly service?: Partial<ServiceSettings>
}

/** The options with every value filled in. */
export interface Resolved {
  readonly clusterId: ClusterId
  readonly ring: MacRing
  readonly crc32: (bytes: Uint8Array) => number
  readonly map: Settings
  readonly service: ServiceSettings
}

/** Fills in the values that were not given. */
export const resolveOptions = (options: MetadataOptions): Resolved => ({
  clusterId: options.clusterId,
  ring: options.ring,
  crc32: options.crc32,
  map: { ...defaultMapSettings, ...options.map },
  service: { ...defaultServiceSettings, ...options.service }
})
