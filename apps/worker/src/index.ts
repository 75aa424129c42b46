/** The worker as a process, and as a part of a larger one. */
export { archiveShards, type ArchiveShard } from "./archive-shards.ts"
export { workerCommand } from "./command.ts"
export { letterSubjects } from "./jet-stream-dead-letters.ts"
export { jetStreamPorts } from "./jet-stream-ports.ts"
export { observeWorker } from "./observations.ts"
export { spoolDeadLetters } from "./spool-dead-letters.ts"
export { type AcknowledgedFloors, makeFloors, makeSpoolArchives } from "./spool-archives.ts"
export { type WorkerPorts, workerProcess, type WorkerProcessOptions } from "./worker-process.ts"
