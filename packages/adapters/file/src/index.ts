/**
 * PartitionStore, CheckpointStore, Lease and record spool on LMDB; Journal, ChunkDevice and
 * RecordSource on plain files.
 */
export { layerChunkDevices } from "./chunk-device.ts"
export { holdDirectory } from "./directory-lock.ts"
export { replaceFile } from "./durable-file.ts"
export { fileJournal } from "./file-journal.ts"
export type { FileJournalOptions } from "./log-journal.ts"
export type { StoreOptions } from "./environment.ts"
export { filePartitionStore } from "./file-partition-store.ts"
export type { FilePartitionStoreOptions } from "./file-partition-store.ts"
export { fileCheckpointStore, fileLease } from "./file-progress.ts"
export { fileSpool } from "./file-spool.ts"
export type { FileSpoolOptions } from "./file-spool.ts"
export { textSource } from "./text-source.ts"
export { StoreRefused } from "./store-refused.ts"
export type { TextFormat, TextInput, TextSourceOptions } from "./text-source.ts"
