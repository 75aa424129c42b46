/** Where a partition is: an application and a key. */
import type { PartitionKey } from "@holdfast/keyspace"

/** The address of a partition. */
export interface Address {
  readonly application: string
  readonly key: PartitionKey
}

/** An address as one text, for maps. */
export const addressText = ({ application, key }: Address): string => `${application}/${key}`
