/** The limits of reading and of writing, and their defaults. */
import { Schema } from "effect"

const AtLeastOne = Schema.Int.pipe(Schema.check(Schema.isGreaterThanOrEqualTo(1)))

/**
 * What one message may make the reader allocate. A message over a limit is passed on whole.
 *
 * - `records`: user records in it.
 * - `tags`: tags of all its user records together.
 * - `inflatedBytes`: size of what comes out of a deflated one.
 */
export const ReadLimits = Schema.Struct({
  records: AtLeastOne,
  tags: AtLeastOne,
  inflatedBytes: AtLeastOne
})
/** What one message may make the reader allocate. */
export type ReadLimits = typeof ReadLimits.Type

/** More than any message of 1 MiB can hold: the smallest user record takes 6 bytes. */
export const defaultReadLimits: ReadLimits = {
  records: 200_000,
  tags: 200_000,
  inflatedBytes: 16 * 1024 * 1024
}

/**
 * What one aggregate may hold.
 *
 * - `bytes`: the finished record with its outer partition key and outer explicit hash key, which
 *   is how Kinesis counts, or a little less than it allows.
 * - `records`: user records.
 */
export const WriteLimits = Schema.Struct({ bytes: AtLeastOne, records: AtLeastOne })
/** What one aggregate may hold. */
export type WriteLimits = typeof WriteLimits.Type

/** 1 MiB, and no more user records than the reader takes by default. */
export const defaultWriteLimits: WriteLimits = { bytes: 1024 * 1024, records: 200_000 }
