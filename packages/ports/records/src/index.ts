export {
  Checkpoint,
  CheckpointConflict,
  CheckpointStore,
  CheckpointStoreError,
  type StoredCheckpoint
} from "./checkpoint-store.ts"
export { Lease, LeaseConflict, LeaseError, LeaseRecord, type StoredLease } from "./lease.ts"
export {
  type Gap,
  type NextOptions,
  type RecordBatch,
  type RecordHeader,
  RecordSource,
  RecordSourceError,
  type Shard,
  type ShardReader,
  type SourceRecord
} from "./record-source.ts"
export { type NewRecord, RecordSpool, RecordSpoolError, type SpoolStatus } from "./record-spool.ts"
export { type ReplayRecord, type ReplayTarget, ReplayTargetError } from "./replay-target.ts"
export { Signal } from "./signal.ts"
