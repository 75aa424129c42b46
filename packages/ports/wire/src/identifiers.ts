/** Names that appear in subjects, file names and every message between services. */
import { Schema } from "effect"

/** What every identifier looks like: safe as one token of a subject and as a file name. */
export const identifierPattern = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/

const identifier = Schema.String.check(
  Schema.isPattern(identifierPattern, {
    expected: "1 to 64 letters, digits, '-' or '_', the first a letter or digit"
  })
)

/** Names a cluster; part of every subject and of every device's identity. */
export const ClusterId = identifier.pipe(Schema.brand("ClusterId"))
/** Names a cluster. */
export type ClusterId = typeof ClusterId.Type

/** Names a chunk server for its whole life; its address is an attribute. */
export const HostId = identifier.pipe(Schema.brand("HostId"))
/** Names a chunk server. */
export type HostId = typeof HostId.Type

/** Names a device; written once into its identity file. */
export const DeviceId = identifier.pipe(Schema.brand("DeviceId"))
/** Names a device. */
export type DeviceId = typeof DeviceId.Type

/** Names a peer. */
export const PeerId = identifier.pipe(Schema.brand("PeerId"))
/** Names a peer. */
export type PeerId = typeof PeerId.Type

/** Names a worker process. */
export const WorkerId = identifier.pipe(Schema.brand("WorkerId"))
/** Names a worker process. */
export type WorkerId = typeof WorkerId.Type

/** Names a rack, or any place that fails as one: `dc1/row2/rack7`. */
export const RackName = Schema.String.check(
  Schema.isPattern(/^[A-Za-z0-9][A-Za-z0-9_./-]{0,63}$/, {
    expected: "1 to 64 letters, digits, '-', '_', '.' or '/', the first a letter or digit"
  })
)

/** A non-negative safe integer: incarnations, epochs, counters, byte counts. */
export const Count = Schema.Int.check(
  Schema.isBetween({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })
)

/** 64 lower-case hex digits: a partition key. */
export const HexKey = Schema.String.check(Schema.isPattern(/^[0-9a-f]{64}$/))
