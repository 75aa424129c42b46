/** A stage as a pipeline: what a program provides to a worker for a function of its own. */
import { Layer } from "effect"
import { Pipeline } from "../pipeline.ts"
import { openStage } from "./stage-run.ts"
import { defaultStage, type StageOptions } from "./stage.ts"
import type { SourceRecord } from "@holdfast/records"

/** A pipeline that hands each item of each record to a function. */
export const stagePipeline = <A>(options: StageOptions<A>): Layer.Layer<Pipeline> =>
  Layer.succeed(Pipeline, { open: (opening) => openStage(options, opening) })

/** A pipeline that hands each record to a function, sixteen at a time, in no order. */
export const recordStage = (
  process: StageOptions<SourceRecord>["process"],
  more: Partial<StageOptions<SourceRecord>> = {}
): Layer.Layer<Pipeline> =>
  stagePipeline({ ...defaultStage, extract: (record) => [record], process, ...more })
