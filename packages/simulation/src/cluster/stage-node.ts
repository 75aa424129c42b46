/**
 * A worker whose pipeline is a stage: a function that works on one item at a time, takes a while,
 * and fails now and then, sometimes after its work was done.
 *
 *     message ──▶ user records, if it is an aggregate ──▶ items ──▶ done, durably, outside
 */
import type { SourceRecord } from "@holdfast/records"
import {
  defaultStage,
  openStage,
  Pipeline,
  StageFailure,
  type StageItem,
  type StageOptions,
  type Worker
} from "@holdfast/service-worker"
import { Effect, Layer, Random } from "effect"
import type { SimulatedNode } from "./node.ts"
import { makePipelineNode } from "./pipeline-node.ts"
import { stageSettings } from "./settings.ts"
import type { Site } from "./site.ts"
import type { WorkedItem } from "./watch.ts"
import { messagingOf } from "./watched-ports.ts"

/** Into how many items a record falls apart, at most. */
export const itemsMax = 3

/** Into how many items a record falls apart: given by its bytes, the same in every life. */
export const itemCount = ({ data }: Pick<SourceRecord, "data">): number => {
  const [first] = data
  return first === undefined ? 1 : first % (itemsMax + 1)
}

const failureRate = 0.06
const outageRate = 0.03
/** How often the work is done, and the answer says that it is not. */
const lostAnswerRate = 0.03
const slowRate = 0.1

const workOn = (site: Site, item: WorkedItem) =>
  Effect.gen(function* () {
    site.watch.itemBegun(item)
    const isSlow = (yield* Random.next) < slowRate
    yield* Effect.sleep(Math.floor((yield* Random.next) * (isSlow ? 1_500 : 15)))
    const fate = yield* Random.next
    if (fate < failureRate) return yield* Effect.fail("it went wrong")
    if (fate < failureRate + outageRate) {
      return yield* new StageFailure({ kind: "outage", message: "it is away" })
    }
    site.watch.itemDone(item)
    if (fate > 1 - lostAnswerRate) return yield* Effect.fail("its answer was lost")
  })

const optionsOf = (
  site: Site,
  epoch: number,
  ordering: StageOptions<number>["ordering"]
): StageOptions<number> => ({
  ...defaultStage,
  ordering,
  deadline: "5 seconds",
  extract: (record) => Array.from({ length: itemCount(record) }, (_, index) => index),
  process: ({ index, part, record, shard }: StageItem<number>) =>
    workOn(site, { shard, epoch, position: record.position, part: part?.index, index })
})

const orderings: ReadonlyArray<StageOptions<number>["ordering"]> = [
  { _tag: "Unordered" },
  { _tag: "ByShard" },
  { _tag: "ByKey", keyOf: (_, { subject }) => String(subject.at(-1)) }
]

const stageOf = (site: Site): Layer.Layer<Pipeline> => {
  const ordering = site.random.split("stage").pick(orderings) ?? defaultStage.ordering
  return Layer.succeed(Pipeline, {
    open: (opening) =>
      Effect.suspend(() => {
        site.watch.stageOpened(opening.shard, opening.epoch)
        return openStage(optionsOf(site, opening.epoch, ordering), opening)
      })
  })
}

/** A worker whose stage works on the records of every stream. */
export const makeStageNode = (site: Site, name: string): SimulatedNode<Worker["Service"]> =>
  makePipelineNode(site, name, {
    settings: stageSettings,
    pipeline: stageOf(site),
    services: messagingOf(site, name)
  })
