/**
 * Commands between their arrival in a heartbeat's reply and their outcome in a later heartbeat.
 *
 *     accept ─▶ queue of its kind ─▶ workers ─▶ outcome ─▶ told until confirmed ─▶ forgotten
 *
 * 1. Heartbeats never wait for a command; each kind has its own queue and workers.
 * 2. A command that comes again while it waits, runs, or is not confirmed, is not run again. One
 *    that comes after that is: all three kinds may be run twice.
 * 3. One that is over the bound, past its deadline, or that dies, is answered as failed.
 */
import type { ChunkTransport } from "@holdfast/storage"
import type { MetadataChunkServerOperations } from "@holdfast/wire"
import { Cause, Clock, Duration, Effect, Queue, type Scope } from "effect"
import type { DeviceSet } from "./device-set.ts"
import type { ChunkServerSettings } from "./options.ts"
import { failed, runCommand } from "./run-command.ts"
import { tellOutcome, type Telling } from "./telling.ts"

type ChunkCommand = MetadataChunkServerOperations.ChunkCommand
type Outcome = MetadataChunkServerOperations.CommandOutcome["outcome"]

/** A command that waits. */
interface Waiting {
  readonly command: ChunkCommand
  /** Monotonic time, in nanoseconds. */
  readonly due: bigint
}

/** How many commands of each kind wait or run. */
export interface CommandCounts {
  readonly copies: number
  readonly deletions: number
  readonly verifications: number
}

/** The commands of a server. */
export interface Commands {
  readonly accept: (command: ChunkCommand) => Effect.Effect<void>
  /** Forgets commands whose outcomes were confirmed. */
  readonly forget: (commandIds: ReadonlyArray<string>) => void
  readonly counts: () => CommandCounts
}

interface Executor {
  readonly devices: DeviceSet
  readonly telling: Telling
  readonly settings: ChunkServerSettings
}

/** Nanoseconds in a millisecond. */
const nanosPerMilli = 1_000_000n

const tell = (executor: Executor, command: ChunkCommand, outcome: Outcome) => {
  const { commandId, deviceId } = command
  const epoch = executor.devices.find(deviceId)?.epoch ?? 0
  tellOutcome(executor.telling, { commandId, deviceId, epoch, outcome })
}

const runWaiting = ({ devices, settings }: Executor, { command, due }: Waiting) =>
  Effect.gen(function* () {
    const rest = due - (yield* Clock.monotonicTimeNanos)
    if (rest <= 0n) return failed("timeout", "it waited until its deadline")
    const device = devices.find(command.deviceId)
    if (device === undefined) return failed("unavailable", "the device is not served here now")
    return yield* runCommand(device, command, settings.transferDeadline).pipe(
      Effect.timeoutOrElse({
        duration: Duration.nanos(rest),
        orElse: () => Effect.succeed(failed("timeout", "it took longer than its deadline"))
      })
    )
  }).pipe(
    Effect.catchCause((cause) =>
      Effect.succeed(failed("internal", `it failed: ${String(Cause.squash(cause))}`))
    )
  )

/** The queue of one kind, and how many of it wait or run. */
interface Lane {
  readonly queue: Queue.Queue<Waiting>
  active: number
}

const startLane = Effect.fnUntraced(function* (executor: Executor, workers: number) {
  const queue = yield* Queue.dropping<Waiting>(executor.settings.commandsWaitingMax)
  const lane: Lane = { queue, active: 0 }
  const work = Effect.gen(function* () {
    const waiting = yield* Queue.take(queue)
    const outcome = yield* runWaiting(executor, waiting)
    lane.active -= 1
    tell(executor, waiting.command, outcome)
  })
  for (let worker = 0; worker < workers; worker += 1) {
    yield* Effect.forkScoped(Effect.forever(work))
  }
  return lane
})

/** Starts the workers; they end with the scope. */
export const startCommands = Effect.fnUntraced(function* (
  executor: Executor
): Effect.fn.Return<Commands, never, ChunkTransport | Scope.Scope> {
  const { settings } = executor
  const copies = yield* startLane(executor, settings.copiesMax)
  const deletions = yield* startLane(executor, settings.deletionsMax)
  const verifications = yield* startLane(executor, settings.verificationsMax)
  const lanes = { Copy: copies, Delete: deletions, Verify: verifications }
  const known = new Set<string>()
  return {
    accept: (command) =>
      Effect.map(Clock.monotonicTimeNanos, (now) => {
        if (known.has(command.commandId)) return
        known.add(command.commandId)
        const due = now + BigInt(command.deadlineMs) * nanosPerMilli
        const lane = lanes[command._tag]
        if (Queue.offerUnsafe(lane.queue, { command, due })) lane.active += 1
        else tell(executor, command, failed("overloaded", "too many commands of its kind wait"))
      }),
    forget: (commandIds) => {
      for (const commandId of commandIds) known.delete(commandId)
    },
    counts: () => ({
      copies: copies.active,
      deletions: deletions.active,
      verifications: verifications.active
    })
  }
})
