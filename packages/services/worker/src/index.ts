/** The worker: leases, shard readers, disposition tracking and checkpoints around a pipeline. */
export {}
