/** The RecordSource, CheckpointStore and Lease ports: where records come from and where a worker's progress is kept. */
export {}
