/**
 * Takes dispositions from a pipeline into the tracker, and carries the error policy's decision out.
 *
 * It is synchronous and total: a pipeline may report from anywhere, at any rate, after the end too.
 */
import {
  decide,
  type ErrorPolicy,
  type Failure,
  type Ordinal,
  type Outcome,
  type PartReport
} from "@holdfast/disposition"
import type { Disposition } from "./pipeline.ts"
import type { ShardRun } from "./shard-run.ts"

/** The report function of a run. */
export const makeReport =
  (run: ShardRun) =>
  (dispositions: ReadonlyArray<Disposition>): void => {
    for (const disposition of dispositions) apply(run, disposition)
    run.progress()
  }

const apply = (run: ShardRun, disposition: Disposition): void => {
  const { tracker } = run
  const { epoch } = run.options
  switch (disposition._tag) {
    case "Done":
      for (const ordinal of disposition.ordinals) {
        settle(run, ordinal, tracker.complete(ordinal, epoch))
      }
      return
    case "Split":
      settle(
        run,
        disposition.ordinal,
        tracker.expect(disposition.ordinal, epoch, disposition.total)
      )
      return
    case "PartsDone": {
      const { indexes, ordinal, total } = disposition
      for (const index of indexes) {
        settle(run, ordinal, tracker.completePart(ordinal, epoch, { index, total }))
      }
      return
    }
    case "Failed":
      applyFailure(run, disposition)
  }
}

const settle = (run: ShardRun, ordinal: Ordinal, outcome: Outcome): void => {
  switch (outcome) {
    case "Finished":
      run.forget(ordinal)
      return
    case "Counted":
      run.settled += 1
      return
    case "Repeated":
    case "Stale":
      return
    case "Unknown":
      run.halt(`the pipeline reported record ${ordinal}, which it was never given`)
      return
    case "PartsExpected":
    case "TotalMismatch":
    case "PartOutOfRange":
    case "TooManyParts":
      carryOut(
        run,
        { ordinal, reason: `a wrong report (${outcome})`, part: undefined, attempts: 1 },
        { attempt: 1, kind: "protocol" }
      )
  }
}

const applyFailure = (
  run: ShardRun,
  { fatal, ordinal, outage, part, reason }: Extract<Disposition, { readonly _tag: "Failed" }>
): void => {
  const kind = fatal === true ? "fatal" : outage === true ? "outage" : "item"
  const result = run.tracker.fail(ordinal, run.options.epoch, {
    isOutage: kind === "outage",
    ...(part === undefined ? {} : { part })
  })
  if (result._tag === "Failing") run.lastFailure = reason
  switch (result._tag) {
    case "Ignored":
      settle(run, ordinal, result.outcome)
      return
    case "Failing":
      carryOut(
        run,
        {
          ordinal,
          reason,
          part,
          attempts: result.attempts
        },
        { attempt: result.attempt, kind }
      )
  }
}

interface Item {
  readonly ordinal: Ordinal
  readonly reason: string
  readonly part: PartReport | undefined
  /** How many were made in all. */
  readonly attempts: number
}

const carryOut = (run: ShardRun, item: Item, failure: Failure): void => {
  const { attempts, ordinal, part, reason } = item
  const decision = decide(policyOf(run), failure)
  switch (decision._tag) {
    case "Retry": {
      if (run.haltReason !== undefined) return
      const dueAt = run.now() + decision.delayMs
      const parts = part === undefined ? undefined : [part.index]
      run.retries.add({ ordinal, dueAt, attempt: attempts + 1, parts })
      return
    }
    case "Skip":
      settle(run, ordinal, run.tracker.settle(ordinal, run.options.epoch, "skipped", part))
      run.laidAside(ordinal, part)
      return
    case "Halt":
      run.halt(`${describe(run, item)} failed: ${reason}`)
      return
    case "DeadLetter":
      // Laying a record aside unseen would lose it; without a place to put it the shard halts.
      if (run.hasDeadLetters) run.letters.add({ ordinal, part, reason, attempts })
      else run.halt(`${describe(run, item)} failed, and there are no dead letters: ${reason}`)
  }
}

/** The worker's schedule of attempts, and what the pipeline wants after the last of them. */
const policyOf = ({ options }: ShardRun): ErrorPolicy => {
  const { errorPolicy } = options.config
  const exhausted = options.exhausted()
  return errorPolicy._tag === "HaltAtOnce" || exhausted === undefined
    ? errorPolicy
    : { ...errorPolicy, exhausted }
}

const describe = (run: ShardRun, { ordinal, part }: Item): string => {
  const held = run.held.get(ordinal)
  const record = held === undefined ? `record ${ordinal}` : `position ${held.record.position}`
  return part === undefined ? record : `part ${part.index} of ${part.total} of ${record}`
}
