/**
 * One turn's batch: commands stepped over one draft, so that one append makes all of them durable.
 *
 * 1. A command that dies is undone with everything it touched and answered `internal`; the others
 *    run again without it.
 * 2. A batch that could not be made durable runs again without those of its commands that need the
 *    journal; they are refused and have changed nothing.
 */
import { openDraft, sealDraft, type Draft, type Sealed, type State } from "@holdfast/chunk-map"
import type { ServiceError } from "@holdfast/wire"
import { internal } from "./refusals.ts"

/** A command on its way: `run` may be called again on a fresh draft, the last run counts. */
export interface Command {
  readonly run: (draft: Draft) => void
  /** Answers with what the last run said. */
  readonly settle: () => void
  readonly fail: (error: ServiceError) => void
}

/** What a batch came to. */
export interface Outcome {
  readonly sealed: Sealed
  readonly settled: ReadonlyArray<Command>
  readonly failed: ReadonlyArray<readonly [Command, ServiceError]>
}

interface Attempt {
  readonly sealed: Sealed
  readonly died: readonly [Command, ServiceError] | undefined
  readonly writers: ReadonlySet<Command>
}

/** The moment of a turn, and whether the journal takes anything. */
export interface Moment {
  readonly now: number
  readonly canWrite: boolean
}

const attempt = (state: State, at: Moment, commands: ReadonlyArray<Command>): Attempt => {
  const draft = openDraft(state, at.now, at)
  const writers = new Set<Command>()
  for (const command of commands) {
    const before = draft.journal.length
    try {
      command.run(draft)
    } catch (cause) {
      const sealed = { state, journal: [], alarms: [] }
      return { sealed, died: [command, internal(cause)], writers }
    }
    if (draft.journal.length > before) writers.add(command)
  }
  return { sealed: sealDraft(draft), died: undefined, writers }
}

/** Steps commands over a state; those that die are set apart. */
export const runBatch = (
  state: State,
  at: Moment,
  commands: ReadonlyArray<Command>
): Outcome & { readonly writers: ReadonlySet<Command> } => {
  let left = commands
  const failed: Array<readonly [Command, ServiceError]> = []
  for (;;) {
    const { sealed, died, writers } = attempt(state, at, left)
    if (died === undefined) return { sealed, settled: left, failed, writers }
    failed.push(died)
    left = left.filter((command) => command !== died[0])
  }
}

/** Steps those commands over a state that need no journal; the others fail with `error`. */
export const runWithoutJournal = (
  state: State,
  now: number,
  commands: ReadonlyArray<Command>,
  error: ServiceError
): Outcome => {
  let left = commands
  const failed: Array<readonly [Command, ServiceError]> = []
  for (;;) {
    const outcome = runBatch(state, { now, canWrite: false }, left)
    failed.push(...outcome.failed)
    if (outcome.sealed.journal.length === 0) {
      return { sealed: outcome.sealed, settled: outcome.settled, failed }
    }
    left = outcome.settled.filter((command) => !outcome.writers.has(command))
    for (const command of outcome.writers) failed.push([command, error])
  }
}
