/** Journal, PartitionStore, CheckpointStore, Lease and record spool on LMDB; ChunkDevice and RecordSource on plain files. */
export { fileJournal } from "./file-journal.ts"
export type { FileJournalOptions } from "./open-journal.ts"
export type { StoreOptions } from "./environment.ts"
