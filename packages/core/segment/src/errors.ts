/** The expected errors of the segment format. */
import { Data } from "effect"

/** A record that the writer does not take; the builder is unchanged. */
export class AppendRefused extends Data.TaggedError("AppendRefused")<{
  readonly reason:
    | "OutOfOrder"
    | "PositionOutOfRange"
    | "PartOutOfRange"
    | "TimestampOutOfRange"
    | "RecordTooLarge"
    | "TooManyHeaders"
  readonly position: bigint
  readonly message: string
}> {}

/** A segment without records cannot be sealed. */
export class SegmentEmpty extends Data.TaggedError("SegmentEmpty")<{
  readonly message: string
}> {}

/** A part of the file other than a block is not what the writer wrote. */
export class SegmentDamaged extends Data.TaggedError("SegmentDamaged")<{
  readonly part: "header" | "trailer" | "footer" | "digest"
  readonly message: string
}> {}

/** The file is of a version, codec or digest that this reader was not given. */
export class SegmentUnsupported extends Data.TaggedError("SegmentUnsupported")<{
  readonly what: "version" | "codec" | "hash"
  readonly name: string
  readonly message: string
}> {}

/** The file would make the reader allocate more than its limits allow. */
export class SegmentTooLarge extends Data.TaggedError("SegmentTooLarge")<{
  readonly what: "block" | "footer" | "blocks"
  readonly value: number
  readonly limit: number
  readonly message: string
}> {}

/** One block is not what the writer wrote: exactly the records named here are lost with it. */
export class BlockDamaged extends Data.TaggedError("BlockDamaged")<{
  readonly block: number
  readonly reason: "length" | "checksum" | "compression" | "content"
  readonly first: bigint
  readonly last: bigint
  readonly count: number
  readonly message: string
}> {}

/** Why a file could not be opened. */
export type OpenError = SegmentDamaged | SegmentUnsupported | SegmentTooLarge
