/** Messaging, RecordSource, CheckpointStore and Lease on NATS and JetStream. */
export {}
