/** Where a deliberate mistake can be put in: each port as a service sees it. */
import type { MemoryKeyValue } from "@holdfast/adapter-memory"
import type { Settings } from "@holdfast/chunk-map"
import type { Messaging } from "@holdfast/messaging"
import type { CheckpointStore, Lease, RecordSource } from "@holdfast/records"
import type { Journal, OpenDevice, PartitionStore } from "@holdfast/storage"

/** Turns a port into what a service gets in its place; the node is who asks. */
export type Seam<Port> = (port: Port, node: string) => Port

/** All seams; without a mistake each leaves its port as it is. */
export interface Seams {
  readonly journal: Seam<Journal["Service"]>
  readonly device: Seam<OpenDevice>
  readonly partitions: Seam<PartitionStore["Service"]>
  /** The broker's store itself, whoever asks. */
  readonly keyValue: (store: MemoryKeyValue) => MemoryKeyValue
  readonly checkpoints: Seam<CheckpointStore["Service"]>
  readonly leases: Seam<Lease["Service"]>
  readonly source: Seam<RecordSource["Service"]>
  readonly messaging: Seam<Messaging["Service"]>
  /** Numbers of the chunk map that take the place of the sound ones. */
  readonly map: Partial<Settings>
}

const asItIs = <Port>(port: Port): Port => port

/** Seams without a mistake. */
export const soundSeams: Seams = {
  journal: asItIs,
  device: asItIs,
  partitions: asItIs,
  keyValue: (store) => store,
  checkpoints: asItIs,
  leases: asItIs,
  source: asItIs,
  messaging: asItIs,
  map: {}
}
