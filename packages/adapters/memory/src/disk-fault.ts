/** Disk faults as data. */
import { Schema } from "effect"

/**
 * A change of a disk. `Capacity`: all bytes that fit, from now on. `FailWrites` and `FailReads`: so
 * many next operations fail with an I/O error and change nothing. `SyncMillis`: how long a sync
 * takes. `FlipBit`: one bit of a stored cell, whose checksum stays. `TearLast`: the last cell of a
 * file, in key order, loses its second half. `Crash`: the processes that hold files are gone; of
 * each file's writes that were not synced a prefix is kept, drawn by chance, the next may be torn.
 */
export const DiskFault = Schema.TaggedUnion({
  Capacity: { bytes: Schema.Natural },
  FailWrites: { count: Schema.Natural },
  FailReads: { count: Schema.Natural },
  SyncMillis: { millis: Schema.Natural },
  FlipBit: {
    file: Schema.String,
    key: Schema.String,
    byte: Schema.Natural,
    bit: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 7 }))
  },
  TearLast: { file: Schema.String },
  Crash: {}
})
/** A change of a disk. */
export type DiskFault = typeof DiskFault.Type
