/** The worker: leases, shard readers, disposition tracking and checkpoints around a pipeline. */
export { parseWorkerConfig, WorkerConfig, WorkerConfigError } from "./config.ts"
export { type DeadLetter, DeadLetterError, DeadLetters } from "./dead-letters.ts"
export { letterHeaders } from "./letter-headers.ts"
export {
  type Disposition,
  type FinishedStretch,
  type FlushOptions,
  type Heartbeat,
  type OfferedRecord,
  type OpenShard,
  Pipeline,
  PipelineError,
  type Resume,
  type ShardPipeline
} from "./pipeline.ts"
export {
  definePipeline,
  type PipelineContext,
  type PipelineDefinition,
  type PipelineModule,
  PipelineModuleError,
  pipelineOf
} from "./pipeline-module.ts"
export { putIntoSpool, spoolDeadLetters } from "./spool-dead-letters.ts"
export {
  defaultStage,
  type StageAnswer,
  StageFailure,
  type StageItem,
  type StageOptions,
  type StageOrdering
} from "./stage/stage.ts"
export { openStage } from "./stage/stage-run.ts"
export { recordStage, stagePipeline } from "./stage/stage-pipeline.ts"
export { Worker } from "./worker.ts"
