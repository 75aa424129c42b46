/** The Journal, PartitionStore, ChunkDevice and ChunkTransport ports: what services keep and how chunk bytes travel. */
export {}
