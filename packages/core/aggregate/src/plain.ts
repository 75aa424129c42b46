/** Why a record is taken as it is, whole: a label for a counter, and a sentence for a person. */

/** What is wrong with a message whose digest is right; an encoder made it so, not the way here. */
export type Malformed =
  | "Truncated"
  | "VarintTooLong"
  | "FieldNumber"
  | "WireType"
  | "GroupEnd"
  | "GroupDepth"
  | "MissingField"
  | "PartitionKeyIndex"
  | "ExplicitHashKeyIndex"
  | "ExplicitHashKey"

/** Every reason for which a record is plain; `NoMagic` is the one of all ordinary records. */
export type PlainReason =
  | "NoMagic"
  | "TooShort"
  | "DigestMismatch"
  | "NotInflated"
  | "TooManyRecords"
  | "TooManyTags"
  | Malformed

/**
 * The record is not an aggregate, or not one that can be trusted: pass it on whole.
 *
 * `at` is the offset where it was noticed, in the record or, where that was deflated, in what came
 * out of it.
 */
export interface Plain {
  readonly _tag: "Plain"
  readonly why: PlainReason
  readonly at: number
}

const sentences: Readonly<Record<PlainReason, string>> = {
  NoMagic: "It does not begin with the magic number of an aggregate.",
  TooShort: "It begins with the magic number; no more than a digest follows.",
  DigestMismatch: "The MD5 digest at its end is not that of its message.",
  NotInflated: "Behind the magic number stands no sound zlib stream within the limit on its size.",
  TooManyRecords: "It holds more user records than the limit on records allows.",
  TooManyTags: "It holds more tags than the limit on tags allows.",
  Truncated: "A field of its message reaches past the end.",
  VarintTooLong: "An integer of its message has more than 10 bytes.",
  FieldNumber: "A field of its message has a number that no field can have.",
  WireType: "A field of its message has a wire type that does not exist.",
  GroupEnd: "A group in its message ends that did not begin there.",
  GroupDepth: "Groups in its message lie in each other deeper than 100.",
  MissingField: "A user record or a tag in it lacks a field that it must have.",
  PartitionKeyIndex: "A user record names a partition key that the table does not have.",
  ExplicitHashKeyIndex: "A user record names an explicit hash key that the table does not have.",
  ExplicitHashKey: "An explicit hash key is not a number, and a hash range was to be applied."
}

/** One sentence that says why a record was taken as plain. */
export const describePlain = (plain: Plain): string => `${sentences[plain.why]} (at ${plain.at})`

/** Makes the outcome. */
export const plain = (why: PlainReason, at: number): Plain => ({ _tag: "Plain", why, at })

/** The outcome of every ordinary record, made once. */
export const ordinary: Plain = plain("NoMagic", 0)
