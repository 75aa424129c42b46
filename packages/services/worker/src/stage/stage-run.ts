/** One shard of a stage: items in lanes, and the fibers that work on them. */
import { hasPart, type Ordinal, type PartReport } from "@holdfast/disposition"
import { Signal } from "@holdfast/records"
import { Cause, Duration, Effect, Exit, type Scope } from "effect"
import type { Disposition, OfferedRecord, OpenShard, ShardPipeline } from "../pipeline.ts"
import { Lanes } from "./lanes.ts"
import {
  runAnswer,
  type StageAnswer,
  StageFailure,
  type StageItem,
  type StageOptions
} from "./stage.ts"
import { UserRecordItems } from "./user-record-items.ts"

/** An item on its way through the lanes. */
interface QueuedItem<A> extends StageItem<A> {
  readonly key: string | undefined
  readonly ordinal: Ordinal
}

/** What the fibers of one shard share. */
interface Floor<A> {
  readonly lanes: Lanes<QueuedItem<A>>
  readonly signal: Signal
  readonly userRecords: UserRecordItems
}

/** Items that a fiber works on before it lets others run, where none of them waits. */
const itemsBetweenYields = 256

/** Opens a shard of a stage in the current scope. */
export const openStage = <A>(
  options: StageOptions<A>,
  opening: OpenShard
): Effect.Effect<ShardPipeline, never, Scope.Scope> =>
  Effect.gen(function* () {
    const lanes = new Lanes<QueuedItem<A>>()
    const signal = new Signal()
    const userRecords = new UserRecordItems()
    const floor = { lanes, signal, userRecords }
    const worker = workOn(options, opening, floor)
    for (let count = 0; count < options.concurrency; count++) yield* Effect.forkScoped(worker)
    const ignoring = (work: Effect.Effect<void, unknown>) =>
      Effect.catchCause(work, (cause) =>
        Cause.hasInterruptsOnly(cause)
          ? Effect.interrupt
          : Effect.logWarning(`a stage of ${opening.shard} failed to flush`, cause)
      )
    const { flush, heartbeat } = options
    return {
      finished: [],
      takesParts: true,
      offer: (batch) =>
        Effect.andThen(
          signal.waitUntil(() => lanes.size < options.backlog),
          Effect.sync(() => {
            for (const offered of batch) take(options, opening, floor, offered)
            signal.notify()
          })
        ),
      heartbeat: (beat) =>
        heartbeat === undefined
          ? Effect.void
          : ignoring(runAnswer(() => heartbeat(opening.shard, beat))),
      flush: ({ deadline, mode }) =>
        flush === undefined
          ? Effect.void
          : ignoring(
              Effect.timeoutOption(
                runAnswer(() => flush(opening.shard, mode)),
                deadline
              )
            ),
      laidAside: (ordinal, part) => {
        lanes.giveUp(ordinal, part)
        userRecords.giveUp(ordinal, part)
        signal.notify()
      }
    }
  })

/** Queues the items of a record; one that cannot be taken apart is a failed attempt at it all. */
const take = <A>(
  { extract, ordering }: StageOptions<A>,
  { report, shard }: OpenShard,
  { lanes, userRecords }: Floor<A>,
  offered: OfferedRecord
): void => {
  const { attempt, ordinal, part, record } = offered
  try {
    const items = extract(record)
    const total = items.length
    const queued = items.map((item, index): QueuedItem<A> => {
      const key = keyOf(ordering, { shard, item, record })
      return { shard, record, item, index, total, part, attempt, key, ordinal }
    })
    if (part === undefined) {
      if (attempt === 1 && total !== 1) report([{ _tag: "Split", ordinal, total }])
      for (const one of queued) if (isWanted(offered, one.index)) lanes.add(one)
      return
    }
    if (total === 0) report([{ _tag: "PartsDone", ordinal, ...ofPart(part) }])
    // A single item is its user record: nothing needs to be kept of it beside the lanes.
    const indexes = total === 1 ? [0] : userRecords.offer(ordinal, part.index, total)
    for (const index of indexes) lanes.add(queued[index]!)
  } catch (error) {
    const reason = `it cannot be taken apart: ${String(error)}`
    report([{ _tag: "Failed", ordinal, reason, ...(part === undefined ? {} : { part }) }])
  }
}

const isWanted = ({ finishedParts, onlyParts }: OfferedRecord, index: number): boolean => {
  const isFinished = finishedParts !== undefined && hasPart(finishedParts, index)
  return !isFinished && (onlyParts === undefined || onlyParts.includes(index))
}

const ofPart = ({ index, total }: PartReport) => ({ total, indexes: [index] })

const keyOf = <A>(
  ordering: StageOptions<A>["ordering"],
  { item, record, shard }: Pick<StageItem<A>, "item" | "record" | "shard">
): string | undefined => {
  switch (ordering._tag) {
    case "Unordered":
      return undefined
    case "ByShard":
      return shard
    case "ByKey":
      return ordering.keyOf(item, record)
  }
}

/** Works on one item after the other, for ever; reports in batches where nothing waits. */
const workOn = Effect.fnUntraced(function* <A>(
  options: StageOptions<A>,
  { report }: OpenShard,
  { lanes, signal, userRecords }: Floor<A>
) {
  let done: Array<Ordinal> = []
  let settled: Array<Disposition> = []
  let sinceYield = 0
  const tell = (): void => {
    if (done.length > 0) settled.push({ _tag: "Done", ordinals: done })
    if (settled.length > 0) report(settled)
    done = []
    settled = []
    signal.notify()
  }
  for (;;) {
    const one = lanes.take()
    if (one === undefined) {
      tell()
      yield* signal.waitUntil(() => lanes.hasNext)
      continue
    }
    const answer = call(options, one)
    if (answer._tag === "Waits") tell()
    const failure = answer._tag === "Waits" ? yield* answer.outcome : answer.failure
    if (failure === undefined) lanes.succeed(one)
    else lanes.fail(one)
    if (one.part !== undefined) addPart(settled, userRecords, one, one.part, failure)
    else if (failure === undefined && one.total === 1) done.push(one.ordinal)
    else settled.push(dispositionOf(one, failure))
    sinceYield += 1
    if (sinceYield < itemsBetweenYields) continue
    sinceYield = 0
    tell()
    yield* Effect.yieldNow
  }
})

/** A failed attempt as it is reported. */
type Fault = Pick<Extract<Disposition, { readonly _tag: "Failed" }>, "reason" | "fatal" | "outage">

const faultOf = (thrown: unknown): Fault => {
  if (!(thrown instanceof StageFailure)) return { reason: String(thrown) }
  switch (thrown.kind) {
    case "fatal":
      return { reason: thrown.message, fatal: true }
    case "outage":
      return { reason: thrown.message, outage: true }
  }
}

/** What a call came to: at once, or after a wait. */
type Call =
  | { readonly _tag: "Returned"; readonly failure: Fault | undefined }
  | { readonly _tag: "Waits"; readonly outcome: Effect.Effect<Fault | undefined> }

const succeeded: Call = { _tag: "Returned", failure: undefined }

const call = <A>({ deadline, process }: StageOptions<A>, item: QueuedItem<A>): Call => {
  let returned: StageAnswer
  try {
    returned = process(item)
  } catch (error) {
    return { _tag: "Returned", failure: faultOf(error) }
  }
  if (returned === undefined) return succeeded
  const late = `it took longer than ${Duration.format(Duration.fromInputUnsafe(deadline))}`
  const outcome = runAnswer(() => returned).pipe(
    Effect.timeoutOrElse({ duration: deadline, orElse: () => Effect.fail(late) }),
    Effect.exit,
    Effect.map((exit) => (Exit.isSuccess(exit) ? undefined : faultOf(Cause.squash(exit.cause))))
  )
  return { _tag: "Waits", outcome }
}

/** Adds what an item of a user record comes to, if that is anything yet. */
const addPart = <A>(
  settled: Array<Disposition>,
  userRecords: UserRecordItems,
  { index, ordinal, total }: QueuedItem<A>,
  part: PartReport,
  failure: Fault | undefined
): void => {
  const isAlone = total === 1
  if (failure !== undefined) {
    if (!isAlone && !userRecords.fail(ordinal, part.index, index)) return
    settled.push({ _tag: "Failed", ordinal, part, ...failure })
    return
  }
  if (!isAlone && !userRecords.succeed(ordinal, part.index)) return
  settled.push({ _tag: "PartsDone", ordinal, ...ofPart(part) })
}

const dispositionOf = <A>(
  { index, ordinal, total }: QueuedItem<A>,
  failure: Fault | undefined
): Disposition => {
  const isPart = total !== 1
  if (failure === undefined) {
    return isPart
      ? { _tag: "PartsDone", ordinal, total, indexes: [index] }
      : { _tag: "Done", ordinals: [ordinal] }
  }
  const failed = { _tag: "Failed", ordinal, ...failure } as const
  return isPart ? { ...failed, part: { index, total } } : failed
}
