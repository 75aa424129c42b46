/**
 * What was published to streams, and what it is for whoever opens it: each message is one record,
 * or the user records that are in it.
 */
import type { NewRecord } from "@holdfast/records"

/** A message of a stream. */
export interface Publication {
  readonly message: NewRecord
  /** The user records of a message that is opened, in order; none where it stays one record. */
  readonly userRecords: ReadonlyArray<NewRecord> | undefined
}

/** The messages of some streams, by position; streams themselves forget what was acknowledged. */
export class Publications {
  readonly #byStream = new Map<string, Map<bigint, Publication>>()

  /** Notes the messages of a stream, from a position on. */
  add(stream: string, first: bigint, publications: ReadonlyArray<Publication>): void {
    const known = this.#byStream.get(stream) ?? new Map<bigint, Publication>()
    for (const [index, one] of publications.entries()) known.set(first + BigInt(index), one)
    this.#byStream.set(stream, known)
  }

  /** The message at a position. */
  at(stream: string, position: bigint): Publication | undefined {
    return this.#byStream.get(stream)?.get(position)
  }

  /** The messages above a position, in order. */
  above(stream: string, after: bigint): ReadonlyArray<readonly [bigint, Publication]> {
    return [...(this.#byStream.get(stream) ?? [])].filter(([position]) => position > after)
  }
}

/** The records that a message comes to; the part of each is its place. */
export const recordsOf = ({ message, userRecords }: Publication): ReadonlyArray<NewRecord> =>
  userRecords ?? [message]
