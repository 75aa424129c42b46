/** What an aggregate is made of. */

/** A name that a producer put on a user record; its value may be absent. */
export interface Tag {
  readonly key: string
  readonly value: string | undefined
}

/**
 * One user record of an aggregate. Its part number is its place in the list.
 *
 * `data` is a view into the message that it came in (into the inflated one, where it was
 * deflated): it costs no copy and keeps the whole message alive. Copy what outlives it.
 */
export interface UserRecord {
  readonly partitionKey: string
  /** Absent when the producer gave none, which is not the same as any entry of the table. */
  readonly explicitHashKey: string | undefined
  readonly data: Uint8Array
  readonly tags: ReadonlyArray<Tag>
}

/** A user record to be aggregated; what `deaggregator` answers can be given back as it is. */
export interface NewUserRecord {
  readonly partitionKey: string
  readonly explicitHashKey?: string | undefined
  /** Is not copied before `finish`: leave it unchanged until then. */
  readonly data: Uint8Array
  readonly tags?: ReadonlyArray<Tag> | undefined
}

/** The tags of a record without tags. */
export const noTags: ReadonlyArray<Tag> = []
