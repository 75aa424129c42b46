/**
 * The loop around the chunk map.
 *
 * ```
 *   commands ─▶ bounded queue ─┐
 *                              ├─▶ turn: step all over one draft ─▶ append once ─▶ answer, alarms
 *   report parts ─▶ one a turn ┘                                      │
 *                                                    snapshot from time to time, beside the turns
 * ```
 * 1. The state changes only when what must be durable is; a failed append leaves it as it was.
 * 2. An answer leaves after the append of its turn.
 * 3. Report parts are taken one a turn, so that a herd of reports delays nothing else by more.
 * 4. A turn that dies is logged, its commands are answered, and the loop goes on.
 * 5. A snapshot begins between two appends: what it leaves out is exactly what is appended later.
 */
import {
  encodeJournal,
  invariants,
  snapshotEntries,
  type Draft,
  type State,
  type Violation
} from "@holdfast/chunk-map"
import { Journal, type JournalError } from "@holdfast/storage"
import type { ServiceError } from "@holdfast/wire"
import { Deferred, Effect, Queue, type Result, type Scope } from "effect"
import { reportAlarms, type AlarmLog } from "./alarms.ts"
import { runBatch, runWithoutJournal, type Command, type Outcome } from "./batch.ts"
import { monotonicMillis } from "./monotonic.ts"
import type { Resolved } from "./options.ts"
import { makeServiceClock } from "./service-clock.ts"
import { internal, notDurable, overloaded, shuttingDown, tooLate } from "./refusals.ts"

/** A command as its sender states it: what to do with the draft, and the answer. */
export type Work<A> = (draft: Draft) => Result.Result<A, ServiceError>

/** How a command is to be run. */
export interface WorkOptions {
  /** How long its sender waits, in milliseconds. */
  readonly waitMs?: number
  /** A part of a full report: one of these a turn. */
  readonly isReport?: boolean
}

/** The loop and what it has come to. */
export interface Engine {
  readonly options: Resolved
  /** The time by which capabilities expire, in seconds since 1970. */
  readonly seconds: Effect.Effect<number>
  /** Runs a command in its turn; answers when it is durable. */
  readonly submit: <A>(work: Work<A>, options?: WorkOptions) => Effect.Effect<A, ServiceError>
  /** The state after the last turn. */
  readonly state: () => State
  /** Whether the last append was taken. */
  readonly canWrite: () => boolean
  readonly violations: () => ReadonlyArray<Violation>
  /** Judges the invariants of the state now; they are kept and logged. */
  readonly judge: Effect.Effect<void>
  /** Tries whether the journal takes anything again. */
  readonly probe: Effect.Effect<void>
}

/** How often it is looked whose sender has waited for too long. */
const LATE_MS = 50

interface Inside {
  readonly options: Resolved
  readonly journal: Journal["Service"]
  readonly commands: Queue.Queue<Command>
  readonly reports: Queue.Queue<Command>
  readonly alarms: AlarmLog
  /** Commands that were not answered yet. */
  readonly waiting: Set<Waiting>
  state: State
  /** Bytes appended since the latest snapshot. */
  appendedBytes: number
  canWrite: boolean
  isCompacting: boolean
  isStopping: boolean
  violations: ReadonlyArray<Violation>
}

/** A command whose sender waits, and until when. */
interface Waiting {
  readonly command: Command
  readonly until: number
}

const nothing: Command = { run: () => undefined, settle: () => undefined, fail: () => undefined }

/** A command, and what calls its sender back; whoever is answered first has been answered. */
const makeCommand = <A>(work: Work<A>, reply: (answer: Effect.Effect<A, ServiceError>) => void) => {
  let said: Result.Result<A, ServiceError> | undefined
  const command: Command = {
    run: (draft) => {
      said = work(draft)
    },
    settle: () => {
      if (said !== undefined) reply(Effect.fromResult(said))
    },
    fail: (error) => {
      reply(Effect.fail(error))
    }
  }
  return command
}

const submitTo =
  (inside: Inside) =>
  <A>(work: Work<A>, options: WorkOptions = {}): Effect.Effect<A, ServiceError> =>
    Effect.flatMap(monotonicMillis, (now) =>
      Effect.callback<A, ServiceError>((resume) => {
        if (inside.isStopping) return resume(Effect.fail(shuttingDown()))
        const command = makeCommand<A>(work, (answer) => {
          inside.waiting.delete(waiting)
          resume(answer)
        })
        const until = now + (options.waitMs ?? inside.options.service.answerMs)
        const waiting = { command, until }
        const queue = options.isReport === true ? inside.reports : inside.commands
        if (!Queue.offerUnsafe(queue, command)) {
          return resume(Effect.fail(overloaded(Queue.sizeUnsafe(queue))))
        }
        inside.waiting.add(waiting)
        if (options.isReport === true) Queue.offerUnsafe(inside.commands, nothing)
        return Effect.sync(() => inside.waiting.delete(waiting))
      })
    )

/** Answers those whose senders have waited long enough; one look at all costs less than timers. */
const answerLate = (inside: Inside) =>
  Effect.gen(function* () {
    yield* Effect.sleep(LATE_MS)
    const now = yield* monotonicMillis
    for (const { command, until } of inside.waiting) if (until <= now) command.fail(tooLate())
  })

const answer = (outcome: Outcome): void => {
  for (const command of outcome.settled) command.settle()
  for (const [command, error] of outcome.failed) command.fail(error)
}

const noteJournal = (inside: Inside, error: JournalError | undefined) =>
  Effect.suspend(() => {
    const canWrite = error === undefined
    if (inside.canWrite === canWrite) return Effect.void
    inside.canWrite = canWrite
    return error === undefined
      ? Effect.logInfo("the journal is written again")
      : Effect.logError(`the journal cannot be written (${error.code}): ${error.message}`)
  })

const takeTurn = Effect.fnUntraced(function* (inside: Inside, commands: ReadonlyArray<Command>) {
  const now = yield* monotonicMillis
  const { canWrite } = inside
  let outcome: Outcome = runBatch(inside.state, { now, canWrite }, commands)
  if (outcome.sealed.journal.length > 0) {
    const records = [...encodeJournal(outcome.sealed.journal, inside.options.crc32)]
    const error = yield* inside.journal
      .append(records)
      .pipe(Effect.match({ onFailure: (failure) => failure, onSuccess: () => undefined }))
    yield* noteJournal(inside, error)
    if (error === undefined) {
      for (const record of records) inside.appendedBytes += record.length
    }
    if (error !== undefined) {
      outcome = runWithoutJournal(inside.state, now, commands, notDurable(error))
    }
  }
  inside.state = outcome.sealed.state
  answer(outcome)
  for (const [, error] of outcome.failed) {
    if (error.code === "internal") yield* Effect.logError(error.message)
  }
  yield* reportAlarms(inside.alarms, outcome.sealed.alarms, now)
})

const turn = Effect.fnUntraced(function* (inside: Inside) {
  const { turnMax } = inside.options.service
  const taken = yield* Queue.takeBetween(inside.commands, 1, turnMax)
  const commands = taken.filter((command) => command !== nothing)
  const part = yield* Queue.poll(inside.reports)
  if (part._tag === "Some") commands.push(part.value)
  yield* takeTurn(inside, commands).pipe(
    Effect.catchCause((cause) => {
      for (const command of commands) command.fail(internal("the turn ended early"))
      return Effect.logError("a turn failed", cause)
    }),
    Effect.uninterruptible
  )
  yield* compactWhenDue(inside)
})

/** Begins a snapshot when the journal has grown enough, and waits until it has its beginning. */
const compactWhenDue = Effect.fnUntraced(function* (inside: Inside) {
  const isDue = inside.appendedBytes >= inside.options.service.compactBytes
  if (!isDue || inside.isCompacting || !inside.canWrite) return
  inside.isCompacting = true
  inside.appendedBytes = 0
  const began = yield* Deferred.make<void>()
  yield* compact(inside, () => Deferred.doneUnsafe(began, Effect.void)).pipe(
    Effect.ensuring(
      Effect.sync(() => {
        inside.isCompacting = false
        Deferred.doneUnsafe(began, Effect.void)
      })
    ),
    Effect.forkScoped
  )
  yield* Deferred.await(began)
})

const compact = (inside: Inside, onBegin: () => void) => {
  const { state } = inside
  const parts = function* () {
    onBegin()
    yield* encodeJournal(snapshotEntries(state), inside.options.crc32)
  }
  return inside.journal.compact({ [Symbol.iterator]: parts }).pipe(
    Effect.andThen(Effect.logInfo(`a snapshot of ${state.chunks.size} chunks is written`)),
    Effect.catch((error) =>
      Effect.logWarning(`no snapshot was written (${error.code}): ${error.message}`)
    )
  )
}

/** The marks as they are say nothing new, and writing them shows whether the journal is well. */
const probe = (inside: Inside) =>
  Effect.suspend(() => {
    const { fileIdLimit, versionLimit } = inside.state
    const marks = { _tag: "Marks", fileIdLimit, versionLimit } as const
    return inside.journal
      .append([...encodeJournal([marks], inside.options.crc32)])
      .pipe(Effect.andThen(noteJournal(inside, undefined)), Effect.ignore)
  })

const judge = (inside: Inside) =>
  Effect.suspend(() => {
    const { invariantsChunksMax } = inside.options.service
    inside.violations = invariants(inside.state, { chunksMax: invariantsChunksMax })
    if (inside.violations.length === 0) return Effect.void
    const said = inside.violations.slice(0, 5).map(({ rule, message }) => `${rule}: ${message}`)
    return Effect.logFatal(`${inside.violations.length} invariants are broken: ${said.join("; ")}`)
  })

/** What waits when the service stops is run in last turns, as far as the time allows. */
const drain = (inside: Inside) =>
  Effect.gen(function* () {
    inside.isStopping = true
    while (Queue.sizeUnsafe(inside.commands) > 0) yield* Effect.scoped(turn(inside))
  }).pipe(
    Effect.timeoutOrElse({
      duration: inside.options.service.drainMs,
      orElse: () => Effect.logWarning("commands were left when the service stopped")
    }),
    Effect.andThen(refuseWaiting(inside))
  )

const refuseWaiting = (inside: Inside) =>
  Effect.gen(function* () {
    for (const queue of [inside.commands, inside.reports]) {
      for (const command of yield* Queue.clear(queue)) command.fail(shuttingDown())
    }
  })

/** Starts the loop on a recovered state; it drains and ends with the scope. */
export const startEngine = Effect.fnUntraced(function* (
  options: Resolved,
  state: State
): Effect.fn.Return<Engine, never, Journal | Scope.Scope> {
  const { waitingMax } = options.service
  const journal = yield* Journal
  const size = yield* Effect.orElseSucceed(journal.size, () => ({ entries: 0, bytes: 0 }))
  const inside: Inside = {
    options,
    journal,
    commands: yield* Queue.dropping<Command>(waitingMax),
    reports: yield* Queue.dropping<Command>(waitingMax),
    alarms: { last: new Map(), held: 0 },
    waiting: new Set(),
    state,
    appendedBytes: size.bytes,
    canWrite: true,
    isCompacting: false,
    isStopping: false,
    violations: []
  }
  yield* Effect.addFinalizer(() => drain(inside))
  yield* Effect.forkScoped(Effect.forever(turn(inside)))
  yield* Effect.forkScoped(Effect.forever(answerLate(inside)))
  return {
    options,
    seconds: yield* makeServiceClock,
    submit: submitTo(inside),
    state: () => inside.state,
    canWrite: () => inside.canWrite,
    violations: () => inside.violations,
    judge: judge(inside),
    probe: probe(inside)
  }
})
