/** Journal, PartitionStore, CheckpointStore, Lease and record spool on LMDB; ChunkDevice and RecordSource on plain files. */
export { layerChunkDevices } from "./chunk-device.ts"
